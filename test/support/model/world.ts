import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Db } from '../../../src/store/connection/db.ts';
import type { DirectStart } from '../../../src/store/enqueue/direct-start.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { Queues } from '../../../src/store/enqueue/queues.ts';
import { newWorker } from '../jobs.ts';
import type { TestDatabase } from '../servers/database.ts';
import { Model } from './model.ts';
import { type JobRow, readRows, type Rows } from './rows.ts';

/** Two tenants share a key, and one tenant has two keys: whatever mixes them up is seen. */
const QUEUES = [
  { tenant: 'a', key: 'x' },
  { tenant: 'a', key: 'y' },
  { tenant: 'b', key: 'x' },
] as const;

export const TENANTS = ['a', 'b'] as const;

/** Makes the cache of published definitions expire at once: each read is a fresh one. */
function hastyClock(): Clock {
  let ms = 0;
  return { ...systemClock, monotonicMs: () => (ms += 60_000) };
}

/** The slot that a worker in this process may offer to a new job, and what became of the offer. */
class OfferedSlot implements DirectStart {
  instance: string | null = null;
  begun: ClaimedJob[] = [];
  released = 0;

  offer(instance: string | null): void {
    this.instance = instance;
    this.begun = [];
    this.released = 0;
  }

  reserve(): string | null {
    return this.instance;
  }

  begin(_queue: unknown, job: ClaimedJob): void {
    this.begun.push(job);
  }

  release(): void {
    this.released += 1;
  }
}

/** The real side: one database, emptied before each run, and its rows as they were last seen. */
export class World {
  readonly database: TestDatabase;
  readonly slot = new OfferedSlot();
  readonly enqueuer: Enqueuer;
  /** What has happened: a proof that tries nothing proves nothing. */
  readonly seen: Set<string>;
  queues: { tenant: string; key: string; queue: number }[] = [];
  rows: Rows = { at: 0, jobs: [], keys: [], workers: [] };

  private constructor(database: TestDatabase, seen: Set<string>) {
    this.database = database;
    this.seen = seen;
    this.enqueuer = new Enqueuer(database.db, database.waker, hastyClock(), this.slot);
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
    const tables = ['waiting', 'running', 'done', 'attempt', 'job', 'dedupe', 'worker', 'revived'];
    tables.push('counter', 'counter_delta', 'definition');
    await this.database.sql(tables.map((table) => `delete from longshore.${table}`).join(';'));
    const model = new Model();
    await this.register(model);
    await this.register(model);
    this.rows = await readRows(this.db);
    return { model, real: this };
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
