import type { Clock } from '../runtime/clock.ts';
import { OneAtATime } from '../runtime/slices.ts';
import { type Db, statement } from './db.ts';
import { queuedBytes } from './queued-bytes.ts';
import { RecentCount } from './recent-count.ts';

/** What one tenant may have at once; 0 is no limit. */
export interface TenantLimits {
  tenantQueuedMax: number;
  tenantQueuedBytesMax: number;
  tenantSchedulesMax: number;
  tenantWebhooksMax: number;
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

const WEBHOOKS = statement<{ webhooks: number }>(
  'count_webhooks',
  'select count(*)::int as webhooks from longshore.webhook where tenant = $1',
);

const JOBS_FRESH_MS = 1_000;
/** To look at sizes is dearer than to count. */
const BYTES_FRESH_MS = 5_000;

/**
 * Keeps one tenant from filling the queue of all. A count never reads more than the limit. Only jobs
 * that came through the API are refused: what schedules make is never lost.
 */
export class Quotas {
  readonly #db: Db;
  readonly #limits: TenantLimits;
  readonly #jobs: RecentCount;
  readonly #bytes: RecentCount;
  /** By tenant: between a count and what it allows, nothing else of the tenant is made here. */
  readonly #turns = new Map<string, OneAtATime>();

  constructor(db: Db, clock: Clock, limits: TenantLimits) {
    this.#db = db;
    this.#limits = limits;
    this.#jobs = new RecentCount(
      clock,
      JOBS_FRESH_MS,
      async (tenant) => await this.#queued(tenant),
    );
    this.#bytes = new RecentCount(
      clock,
      BYTES_FRESH_MS,
      async (tenant) => await queuedBytes(db, tenant),
    );
  }

  /** `params` are those of the jobs that are to be let in, all or none. */
  async admitJobs(tenant: string, params: readonly string[]): Promise<void> {
    const { tenantQueuedMax: jobsMax, tenantQueuedBytesMax: bytesMax } = this.#limits;
    const jobs = jobsMax > 0 ? await this.#jobs.look(tenant) : null;
    const bytes = bytesMax > 0 ? await this.#bytes.look(tenant) : null;
    if (jobs && jobs.total() + params.length > jobsMax) {
      throw new QuotaExceeded(
        `the tenant may have ${jobsMax} jobs queued at once; try again later`,
      );
    }
    const size = bytes ? params.reduce((sum, json) => sum + Buffer.byteLength(json), 0) : 0;
    if (bytes && bytes.total() + size > bytesMax) {
      const limit = `${bytesMax} bytes of params in its queued jobs`;
      throw new QuotaExceeded(`the tenant may have ${limit}; try again later`);
    }
    jobs?.add(params.length);
    bytes?.add(size);
  }

  /** Makes a schedule, if the tenant may have one more. */
  async schedule<T>(tenant: string, make: () => Promise<T>): Promise<T> {
    const max = this.#limits.tenantSchedulesMax;
    if (max === 0) return await make();
    return await this.#turn(tenant, async () => {
      await this.#admitSchedule(tenant, max);
      return await make();
    });
  }

  /** Makes a webhook, if the tenant may have one more. */
  async webhook<T>(tenant: string, make: () => Promise<T>): Promise<T> {
    const max = this.#limits.tenantWebhooksMax;
    if (max === 0) return await make();
    return await this.#turn(tenant, async () => {
      await this.#admitWebhook(tenant, max);
      return await make();
    });
  }

  async #turn<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    let turns = this.#turns.get(tenant);
    if (!turns) this.#turns.set(tenant, (turns = new OneAtATime()));
    return await turns.run(work);
  }

  async #admitSchedule(tenant: string, max: number): Promise<void> {
    let schedules = 0;
    for (let shard = 0; shard < this.#db.shards; shard += 1) {
      const [row] = await this.#db.run(SCHEDULES, [shard, tenant, max]);
      schedules += row?.schedules ?? 0;
    }
    if (schedules < max) return;
    throw new QuotaExceeded(`the tenant may have ${max} schedules: delete one first`);
  }

  async #admitWebhook(tenant: string, max: number): Promise<void> {
    const [row] = await this.#db.run(WEBHOOKS, [tenant]);
    if ((row?.webhooks ?? 0) < max) return;
    throw new QuotaExceeded(`the tenant may have ${max} webhooks: delete one first`);
  }

  async #queued(tenant: string): Promise<number> {
    let jobs = 0;
    for (let shard = 0; shard < this.#db.shards; shard += 1) {
      const [row] = await this.#db.run(QUEUED, [shard, tenant, this.#limits.tenantQueuedMax]);
      jobs += row?.jobs ?? 0;
    }
    return jobs;
  }
}
