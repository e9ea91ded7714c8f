import type { createClient } from 'redis';
import { withDeadline } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { StartRefusal } from '../runtime/start-refusal.ts';
import type { Beats } from './beats.ts';

/** An optional dependency, loaded only when needed. */
const loadRedis = async () => await import('redis');

export interface RedisBeatsOptions {
  url: string;
  ttlMs: number;
  log: Log;
  load?: typeof loadRedis;
}

type Client = ReturnType<typeof newClient>;

interface Link {
  client: Client;
  ready: Promise<unknown>;
}

/** The timeout of a Redis call. */
const CALL_MS = 2_000;

/**
 * Heartbeats in Redis: `job:{jobId}:heartbeat` holds the id of the worker and expires. A call that
 * fails or times out closes the connection, and the next call opens a new one. So a Redis that was
 * killed or frozen is reconnected, and no commands queue up meanwhile.
 */
export class RedisBeats implements Beats, Service {
  readonly name = 'redis';
  readonly #options: RedisBeatsOptions;
  #create: typeof createClient | undefined;
  #link: Link | undefined;

  constructor(options: RedisBeatsOptions) {
    this.#options = options;
  }

  /** Does not connect, because Redis may be down. */
  async start(): Promise<void> {
    const { load = loadRedis } = this.#options;
    const redis = await load().catch((error: unknown) => {
      const words =
        'LONGSHORE_REDIS_URL is set, but the package "redis" cannot be loaded: ' +
        'run "npm install redis", or unset it';
      throw new StartRefusal('configuration', words, { cause: error });
    });
    this.#create = redis.createClient;
  }

  async stop(): Promise<void> {
    this.#create = undefined;
    if (this.#link) this.#drop(this.#link);
  }

  async beat(worker: string, jobIds: readonly string[]): Promise<void> {
    const expiration = { type: 'PX', value: this.#options.ttlMs } as const;
    await this.#call(async (client) => {
      // Without jobs it only checks the connection.
      if (jobIds.length === 0) return await client.ping();
      const batch = client.multi();
      for (const id of jobIds) batch.set(keyOf(id), worker, { expiration });
      return await batch.execAsPipeline();
    });
  }

  async ownersOf(jobIds: readonly string[]): Promise<Map<string, string | null>> {
    if (jobIds.length === 0) return new Map();
    const owners = await this.#call(async (client) => await client.mGet(jobIds.map(keyOf)));
    return new Map(jobIds.map((id, index) => [id, owners[index] ?? null]));
  }

  async #call<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const link = (this.#link ??= this.#connect());
    const { client, ready } = link;
    try {
      const answer = ready.then(async () => await work(client));
      return await withDeadline(answer, CALL_MS, 'a call of Redis');
    } catch (error) {
      this.#drop(link);
      throw error;
    }
  }

  #connect(): Link {
    if (!this.#create) throw new Error('the Redis connection is closed');
    const client = newClient(this.#create, this.#options.url);
    const link = { client, ready: client.connect() };
    link.ready.catch(() => undefined);
    client.on('error', (error) => {
      this.#options.log.debug({ err: error }, 'lost the Redis connection');
      this.#drop(link);
    });
    return link;
  }

  #drop(link: Link): void {
    if (this.#link === link) this.#link = undefined;
    link.client.destroy();
  }
}

function newClient(create: typeof createClient, url: string) {
  return create({
    url,
    socket: { connectTimeout: CALL_MS, reconnectStrategy: false },
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
}

function keyOf(jobId: string): string {
  return `job:${jobId}:heartbeat`;
}
