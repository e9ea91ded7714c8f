import { BATCH_KEY } from '../../../src/core/batch/batch.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import type { Db } from '../../../src/store/connection/db.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { syncLimits } from '../../../src/store/limits/sync-limits.ts';
import { Queues } from '../../../src/store/enqueue/queues.ts';
import { newWorker } from '../jobs.ts';
import type { TestDatabase } from '../servers/database.ts';
import { CONCURRENCY_LIMIT, KEY_LIMIT, Model, RATE_BURST } from './model.ts';
import { type JobRow, readRows, type Rows } from './rows.ts';

/** Two tenants share a key, and one tenant has two keys: whatever mixes them up is seen. */
const QUEUES = [
  { tenant: 'a', key: 'x' },
  { tenant: 'a', key: 'y' },
  { tenant: 'b', key: 'x' },
  // The definitions with limits; `keyed` has hooks as well.
  { tenant: 'a', key: 'keyed' },
  { tenant: 'a', key: 'rated' },
  { tenant: 'a', key: '$hook:keyed' },
  { tenant: 'a', key: BATCH_KEY },
] as const;

export const [KEYED, RATED, HOOKS, BATCHES] = [3, 4, 5, 6];
/** So slow that no start comes back during a run. */
export const RATE_PER_MS = 24 * 3_600_000;

export const TENANTS = ['a', 'b'] as const;

/** Makes the cache of published definitions expire at once: each read is a fresh one. */
function hastyClock(): Clock {
  let ms = 0;
  return { ...systemClock, monotonicMs: () => (ms += 60_000) };
}

/** The real side: one database, emptied before each run, and its rows as they were last seen. */
export class World {
  readonly database: TestDatabase;
  readonly enqueuer: Enqueuer;
  /** What has happened: a proof that tries nothing proves nothing. */
  readonly seen: Set<string>;
  queues: { tenant: string; key: string; queue: number }[] = [];
  rows: Rows = { at: 0, jobs: [], hooks: [], keys: [], workers: [], limiters: [] };

  private constructor(database: TestDatabase, seen: Set<string>) {
    this.database = database;
    this.seen = seen;
    this.enqueuer = new Enqueuer(database.db, database.waker, hastyClock());
  }

  static async open(database: TestDatabase, seen: Set<string>): Promise<World> {
    const world = new World(database, seen);
    const queues = new Queues(database.db, 1);
    for (const { tenant, key } of QUEUES) {
      const { queue } = await queues.resolve(tenant, key, 1);
      world.queues.push({ tenant, key, queue });
    }
    return world;
  }

  get db(): Db {
    return this.database.db;
  }

  /** An empty queue with two workers, on both sides. */
  async begin(): Promise<{ model: Model; real: World }> {
    const tables = [
      'waiting',
      'running',
      'done',
      'attempt',
      'job',
      'step',
      'edge',
      'ended_watched',
      'dedupe',
      'worker',
    ];
    tables.push('revived', 'counter', 'counter_delta', 'definition', 'limiter');
    await this.database.sql(tables.map((table) => `delete from longshore.${table}`).join(';'));
    await this.#publishLimits();
    const model = new Model();
    for (const key of ['keyed', 'rated']) model.published.set(key, 3);
    await this.register(model);
    await this.register(model);
    this.rows = await readRows(this.db);
    return { model, real: this };
  }

  async #publishLimits(): Promise<void> {
    const rateLimit = { limit: RATE_BURST, perMs: RATE_PER_MS };
    const parts = { paramsSchema: null };
    const hooks = ['onSuccess', 'onFail', 'onEnd'] as const;
    await publishDefinitions(this.db, [
      definitionInfo({ key: 'keyed', concurrencyKeyLimit: KEY_LIMIT }, { ...parts, hooks }),
      definitionInfo({ key: 'rated', concurrencyLimit: CONCURRENCY_LIMIT, rateLimit }, parts),
    ]);
    await syncLimits(this.db, ['keyed', 'rated']);
  }

  async register(model: Model): Promise<void> {
    const instance = await newWorker(this.database, 3_600_000);
    const state = { leaseOver: false, draining: false, dead: false, longDead: false };
    model.workers.set(instance, { instance, ...state });
  }

  /** The rows of a job as they were before this step. */
  row(id: string): JobRow {
    const found = this.rows.jobs.find((row) => row.id === id);
    if (!found) throw new Error(`no rows of job ${id}`);
    return found;
  }

  note(what: string): void {
    this.seen.add(what);
  }
}
