import type { Client } from 'pg';
import { unknownName } from '../../core/values/nearest.ts';
import { ImportRefused, type Left, type Page, type Source, unreachable } from '../source.ts';
import type { WaitingSchedule } from '../source.ts';
import { mapRow, type PgBossRow } from './map-job.ts';
import { mapSchedule, type PgBossSchedule } from './map-schedule.ts';
import { NEXT_IDS, tablesOf } from './tables.ts';

export interface PgBossOptions {
  url: string;
  schema: string;
  /** Empty: all queues. */
  queues: readonly string[];
  /** Jobs of a page are locked, so that `remove` deletes what was imported and nothing else. */
  lock: boolean;
  now(): Date;
}

const CONNECT_MS = 10_000;
const SCHEMA_SHAPE = /^[A-Za-z_][A-Za-z0-9_]{0,49}$/;
/** PostgreSQL's codes for a table or schema that does not exist. */
const MISSING = ['42P01', '3F000'];

type Tables = ReturnType<typeof tablesOf>;

/**
 * The jobs of pg-boss. One connection reads ids through a cursor, in the order in which they would run.
 * The other one reads, locks and deletes a page at a time.
 */
export class PgBossSource implements Source {
  readonly system = 'pg-boss';
  readonly #options: PgBossOptions;
  readonly #tables: Tables;
  readonly #ids: Client;
  readonly #jobs: Client;
  #queues: readonly string[] = [];

  private constructor(options: PgBossOptions, ids: Client, jobs: Client) {
    this.#options = options;
    this.#tables = tablesOf(options.schema);
    this.#ids = ids;
    this.#jobs = jobs;
  }

  static async open(options: PgBossOptions): Promise<PgBossSource> {
    if (!SCHEMA_SHAPE.test(options.schema)) {
      throw new ImportRefused(`--schema ${JSON.stringify(options.schema)} is no name of a schema`);
    }
    const ids = await connect(options.url);
    const jobs = await connect(options.url);
    const source = new PgBossSource(options, ids, jobs);
    try {
      source.#queues = await source.#chosenQueues();
    } catch (error) {
      await source.close();
      throw error;
    }
    return source;
  }

  async close(): Promise<void> {
    await Promise.all([this.#ids.end(), this.#jobs.end()]).catch(() => undefined);
  }

  async *pages(): AsyncGenerator<Page, void, undefined> {
    const running = await this.#jobs.query<{ name: string; count: number; example: string }>(
      this.#tables.running,
      [this.#queues],
    );
    const left = running.rows.map(({ name: queue, count, example }) => {
      return { queue, reason: 'runs there now', count, examples: [example] };
    });
    yield { jobs: [], left, remove: async () => [] };
    await this.#ids.query('begin read only');
    await this.#ids.query(this.#tables.waiting, [this.#queues]);
    for (;;) {
      const { rows } = await this.#ids.query<{ name: string; id: string }>(NEXT_IDS);
      if (rows.length === 0) return void (await this.#ids.query('commit'));
      yield* this.#page(rows.map(({ id }) => id));
    }
  }

  async *schedules(): AsyncGenerator<WaitingSchedule | Left, void, undefined> {
    const { rows } = await this.#jobs.query<PgBossSchedule>(this.#tables.schedules, [this.#queues]);
    for (const row of rows) {
      const remove = async () => {
        await this.#jobs.query(this.#tables.removeSchedule, [row.name, row.key ?? '']);
      };
      yield mapSchedule(row, remove);
    }
  }

  /** A process that is killed here leaves its transaction to PostgreSQL, which rolls it back. */
  async *#page(ids: readonly string[]): AsyncGenerator<Page, void, undefined> {
    const { lock } = this.#options;
    await this.#jobs.query('begin');
    let isDone = false;
    try {
      const text = lock ? this.#tables.lock : this.#tables.read;
      const { rows } = await this.#jobs.query<PgBossRow>(text, [this.#queues, ids]);
      yield this.#pageOf(ids, rows);
      isDone = true;
    } finally {
      await this.#jobs.query(isDone ? 'commit' : 'rollback');
    }
  }

  #pageOf(ids: readonly string[], rows: readonly PgBossRow[]): Page {
    const byId = new Map(rows.map((row) => [row.id, row]));
    const sorted = ids.flatMap((id) => byId.get(id) ?? []);
    const blocked = sorted.filter((row) => row.blocked);
    const nowMs = this.#options.now().getTime();
    return {
      jobs: sorted.filter((row) => !row.blocked).map((row) => mapRow(row, nowMs)),
      left: blocked.map(({ name: queue, id }) => {
        return { queue, reason: 'waits for other jobs there', count: 1, examples: [id] };
      }),
      remove: async (wanted) => {
        const values = [this.#queues, wanted];
        const { rows: gone } = await this.#jobs.query<{ id: string }>(this.#tables.remove, values);
        const removed = new Set(gone.map(({ id }) => id));
        return wanted.filter((id) => !removed.has(id));
      },
    };
  }

  async #chosenQueues(): Promise<readonly string[]> {
    const { schema, queues: wanted } = this.#options;
    const known = await this.#jobs
      .query<{ name: string }>(this.#tables.queues)
      .then(({ rows }) => rows.map(({ name }) => name))
      .catch((error: unknown) => {
        if (!isMissing(error)) throw error;
        const words = `the schema "${schema}" has no tables of pg-boss 10 or newer: use --schema`;
        throw new ImportRefused(words, { cause: error });
      });
    for (const queue of wanted) {
      if (!known.includes(queue)) throw new ImportRefused(unknownName('queue', queue, known));
    }
    return wanted.length > 0 ? wanted : known;
  }
}

async function connect(url: string): Promise<Client> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'longshore import',
  });
  // A connection that breaks between statements fails the next one.
  client.on('error', () => undefined);
  await client.connect().catch((error: unknown) => {
    throw unreachable('database', error);
  });
  return client;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && MISSING.includes(String(error.code));
}
