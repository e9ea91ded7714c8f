import { hasRedis, startRedis, type TestRedis } from '../../test/support/servers/redis.ts';
import { Link } from './link.ts';

/** The lease of a worker that beats in Redis: so long that a job which waits for its end is noticed. */
export const REDIS_LEASE_MS = 20_000;
/** For so long a Redis may remember the dead (`core/queue/lease.ts`). */
export const REMEMBERED_MS = 30_000;

/** A Redis for the beats of workers, behind a link of its own. */
export class Redis {
  readonly link: Link;
  readonly #redis: TestRedis;

  private constructor(redis: TestRedis, link: Link) {
    this.#redis = redis;
    this.link = link;
  }

  static async open(): Promise<Redis> {
    if (!hasRedis) throw new Error("this profile needs Redis: install Debian's redis-server");
    const redis = await startRedis();
    const link = new Link('redis', 'http', () => 0);
    await link.open();
    link.targetPort = redis.server.port;
    return new Redis(redis, link);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.link.port}`;
  }

  async kill(): Promise<void> {
    await this.#redis.server.kill();
  }

  async start(): Promise<void> {
    await this.#redis.server.start();
  }

  signal(signal: NodeJS.Signals): void {
    this.#redis.server.signal(signal);
  }

  async flush(): Promise<void> {
    await this.#redis.command('FLUSHALL');
  }

  async close(): Promise<void> {
    await this.link.close();
    await this.#redis.server.remove();
  }
}
