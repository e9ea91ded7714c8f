import type { Clock } from '../runtime/clock.ts';
import { type Db, statement } from './db.ts';

/** What one tenant may have at once; 0 is no limit. */
export interface TenantLimits {
  tenantQueuedMax: number;
  tenantSchedulesMax: number;
}

export class QuotaExceeded extends Error {
  override name = 'QuotaExceeded';
}

const QUEUED = statement<{ jobs: number }>(
  'count_queued',
  `select count(*)::int as jobs from (
     select 1 from longshore.lane l cross join lateral (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.lane = l.lane and w.seq is not null limit $3
     ) w
     where l.shard = $1 and l.tenant = $2 limit $3
   ) q`,
);

const SCHEDULES = statement<{ schedules: number }>(
  'count_schedules',
  `select count(*)::int as schedules from (
     select 1 from longshore.schedule s where s.shard = $1 and s.tenant = $2 limit $3
   ) q`,
);

const FRESH_MS = 1_000;

/**
 * Keeps one tenant from filling the queue of all. To count at each enqueue would make it slower the
 * longer the queue is, so the count may be a second old; what this process has stored since is added.
 * Several processes may therefore let in a little more together. A count never reads more than the
 * limit. Only jobs that came through the API are refused: what schedules make is never lost.
 */
export class Quotas {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #limits: TenantLimits;
  readonly #seen = new Map<string, { atMs: number; jobs: Promise<number>; added: number }>();

  constructor(db: Db, clock: Clock, limits: TenantLimits) {
    this.#db = db;
    this.#clock = clock;
    this.#limits = limits;
  }

  async admitJobs(tenant: string, count: number): Promise<void> {
    const max = this.#limits.tenantQueuedMax;
    if (max === 0) return;
    const seen = this.#look(tenant, max);
    const queued = await seen.jobs;
    if (queued + seen.added + count > max) {
      throw new QuotaExceeded(`the tenant may have ${max} jobs queued at once; try again later`);
    }
    // Nothing is waited for between the look and this, so those who ask together count each other.
    seen.added += count;
  }

  async admitSchedule(tenant: string): Promise<void> {
    const max = this.#limits.tenantSchedulesMax;
    if (max === 0) return;
    let schedules = 0;
    for (let shard = 0; shard < this.#db.shards; shard += 1) {
      const [row] = await this.#db.run(SCHEDULES, [shard, tenant, max]);
      schedules += row?.schedules ?? 0;
    }
    if (schedules < max) return;
    throw new QuotaExceeded(`the tenant may have ${max} schedules: delete one first`);
  }

  #look(tenant: string, max: number) {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#seen.get(tenant);
    if (known && nowMs - known.atMs < FRESH_MS) return known;
    const jobs = this.#countQueued(tenant, max);
    const seen = { atMs: nowMs, jobs, added: 0 };
    this.#seen.set(tenant, seen);
    jobs.catch(() => this.#seen.delete(tenant));
    return seen;
  }

  async #countQueued(tenant: string, max: number): Promise<number> {
    let jobs = 0;
    for (let shard = 0; shard < this.#db.shards; shard += 1) {
      const [row] = await this.#db.run(QUEUED, [shard, tenant, max]);
      jobs += row?.jobs ?? 0;
    }
    return jobs;
  }
}
