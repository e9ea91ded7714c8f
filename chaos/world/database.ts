import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { migrate } from '../../src/store/connection/migrate.ts';
import { descendants } from '../../test/support/processes.ts';
import { until } from '../../test/support/until.ts';

/** Small enough for a disk that can be filled up; durable, as the product always has it. */
const SETTINGS = {
  max_connections: '150',
  shared_buffers: '128MB',
  max_wal_size: '256MB',
  // The history says when a release was committed.
  track_commit_timestamp: 'on',
};

/**
 * The PostgreSQL of a run: the one that Longshore brings along, with its own supervisor, on durable
 * settings. Servers reach it through their links only; the harness goes straight to it.
 */
export class Database {
  readonly #embedded: EmbeddedPostgres;

  constructor(folder: string) {
    this.#embedded = new EmbeddedPostgres({
      loopback: true,
      dataDir: folder,
      log: silentLog,
      extraSettings: SETTINGS,
    });
  }

  async start(): Promise<void> {
    await this.#embedded.start();
    await migrate({ url: this.#embedded.url, log: silentLog, shards: 1 });
    const triggers = await readFile(
      new URL('../history/row-triggers.sql', import.meta.url),
      'utf8',
    );
    await this.use(async (client) => void (await client.query(triggers)));
  }

  async stop(): Promise<void> {
    await this.#embedded.stop();
  }

  get port(): number {
    return Number(new URL(this.#embedded.url).port);
  }

  /** Where a process finds it behind a link. */
  urlThrough(port: number): string {
    const url = new URL(this.#embedded.url);
    url.port = `${port}`;
    return url.href;
  }

  get postmaster(): number | undefined {
    return this.#embedded.pid;
  }

  /** The postmaster and everything below it. */
  get processes(): number[] {
    const { postmaster } = this;
    if (postmaster === undefined) return [];
    return [postmaster, ...descendants(postmaster).map(({ pid }) => pid)];
  }

  /** A connection for one piece of work. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({
      connectionString: this.#embedded.url,
      application_name: 'chaos',
      connectionTimeoutMillis: 5_000,
      query_timeout: 60_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Waits until it takes a write again. */
  async back(patienceMs = 60_000): Promise<void> {
    const probe = async () => {
      try {
        return await this.use(async (client) => {
          await client.query('create temp table probe (at timestamptz)');
          return true;
        });
      } catch {
        return false;
      }
    };
    await until('the database is back', probe, patienceMs);
  }

  /** Jobs that have not ended; `suspended` ones wait for their clients, not for servers. */
  async unfinished({ suspended }: { suspended: boolean }): Promise<number> {
    return await this.use(async (client) => {
      const { rows } = await client.query<{ count: number }>(
        `select ((select count(*) from longshore.waiting where $1 or state <> 'suspended')
           + (select count(*) from longshore.running))::float8 as count`,
        [suspended],
      );
      return rows[0]?.count ?? 0;
    });
  }

  /** The same by definition and state, for a run that waits for them in vain. */
  async whatIsUnfinished(): Promise<string> {
    return await this.use(async (client) => {
      const { rows } = await client.query<{ line: string }>(
        `select concat_ws(' ', count(*), q.definition_key, u.state, 'since', min(u.since)) as line
         from (select shard, queue, state::text, least(run_at, queued_at) as since
               from longshore.waiting
               union all select shard, queue, 'running', started_at from longshore.running) u
         join longshore.queue q using (shard, queue)
         group by q.definition_key, u.state order by count(*) desc`,
      );
      return rows.map(({ line }) => line).join('; ');
    });
  }
}
