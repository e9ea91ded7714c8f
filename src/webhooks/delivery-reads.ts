import { isJobId, shardOfJobId } from '../core/job/job-id.ts';
import type { JobView } from '../core/job/job.ts';
import { TogetherPerKey } from '../runtime/together.ts';
import type { Queryable } from '../store/connection/db.ts';
import { viewJobs } from '../store/read/get-job.ts';
import { type Endpoint, findEndpoints } from '../store/webhooks/webhook-health.ts';

/** The most of one statement. */
const MOST = 50;

interface WantedJob {
  tenant: string;
  jobId: string;
}

/**
 * What deliveries read. Those that ask at the same time share a statement for each shard, and at most
 * two connections of a shard are used, so the claims of other queues need not wait for one.
 */
export class DeliveryReads {
  readonly #endpoints: TogetherPerKey<number, string, Endpoint | null>;
  readonly #jobs: TogetherPerKey<number, WantedJob, JobView | null>;

  constructor(db: Queryable) {
    this.#endpoints = new TogetherPerKey(MOST, async (shard, ids) => {
      const found = new Map(await findEndpoints(db, shard, ids));
      return ids.map((id) => found.get(id) ?? null);
    });
    this.#jobs = new TogetherPerKey(MOST, async (shard, wanted) => {
      const found = new Map<string, JobView>();
      for (const [tenant, some] of Map.groupBy(wanted, (one) => one.tenant)) {
        const ids = [...new Set(some.map(({ jobId }) => jobId))];
        for (const job of await viewJobs(db, shard, tenant, ids)) {
          found.set(`${tenant} ${job.jobId}`, job);
        }
      }
      return wanted.map(({ tenant, jobId }) => found.get(`${tenant} ${jobId}`) ?? null);
    });
  }

  /** The webhook of a delivery; null when it was deleted. */
  async endpoint(deliveryId: string): Promise<Endpoint | null> {
    return await this.#endpoints.ask(shardOfJobId(deliveryId), deliveryId);
  }

  async job(tenant: string, jobId: string): Promise<JobView | null> {
    return isJobId(jobId) ? await this.#jobs.ask(shardOfJobId(jobId), { tenant, jobId }) : null;
  }
}
