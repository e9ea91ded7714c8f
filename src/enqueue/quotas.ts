import type { Clock } from '../runtime/clock.ts';
import { OneAtATime } from '../runtime/slices.ts';
import type { Db } from '../store/connection/db.ts';
import { countQueued, countSchedules, countWebhooks } from '../store/enqueue/quota-counts.ts';
import { queuedBytes } from '../store/enqueue/queued-bytes.ts';
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
  readonly #locks = new Map<string, OneAtATime>();

  constructor(db: Db, clock: Clock, limits: TenantLimits) {
    this.#db = db;
    this.#limits = limits;
    this.#jobs = new RecentCount(
      clock,
      JOBS_FRESH_MS,
      async (tenant) => await countQueued(db, tenant, limits.tenantQueuedMax),
    );
    this.#bytes = new RecentCount(
      clock,
      BYTES_FRESH_MS,
      async (tenant) => await queuedBytes(db, tenant),
    );
  }

  /** `params` are those of the jobs that are to be let in, all or none. */
  async permitJobs(tenant: string, params: readonly string[]): Promise<void> {
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
    return await this.#exclusive(tenant, async () => {
      await this.#permitSchedule(tenant, max);
      return await make();
    });
  }

  /** Makes a webhook, if the tenant may have one more. */
  async webhook<T>(tenant: string, make: () => Promise<T>): Promise<T> {
    const max = this.#limits.tenantWebhooksMax;
    if (max === 0) return await make();
    return await this.#exclusive(tenant, async () => {
      await this.#permitWebhook(tenant, max);
      return await make();
    });
  }

  async #exclusive<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    let lock = this.#locks.get(tenant);
    if (!lock) this.#locks.set(tenant, (lock = new OneAtATime()));
    return await lock.run(work);
  }

  async #permitSchedule(tenant: string, max: number): Promise<void> {
    if ((await countSchedules(this.#db, tenant, max)) < max) return;
    throw new QuotaExceeded(`the tenant may have ${max} schedules: delete one first`);
  }

  async #permitWebhook(tenant: string, max: number): Promise<void> {
    if ((await countWebhooks(this.#db, tenant)) < max) return;
    throw new QuotaExceeded(`the tenant may have ${max} webhooks: delete one first`);
  }
}
