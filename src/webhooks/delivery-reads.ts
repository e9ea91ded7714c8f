import { isJobId, shardOfJobId } from '../core/job/job-id.ts';
import type { JobView } from '../core/job/job.ts';
import { Together } from '../runtime/together.ts';
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
 * two connections are used, so the claims of other queues need not wait for one.
 */
export class DeliveryReads {
  readonly #endpoints: Together<string, Endpoint | null>;
  readonly #jobs: Together<WantedJob, JobView | null>;

  constructor(db: Queryable) {
    this.#endpoints = new Together(MOST, async (ids) => {
      const found = new Map<string, Endpoint>();
      for (const [shard, some] of Map.groupBy(ids, shardOfJobId)) {
        for (const [id, endpoint] of await findEndpoints(db, shard, some)) found.set(id, endpoint);
      }
      return ids.map((id) => found.get(id) ?? null);
    });
    this.#jobs = new Together(MOST, async (wanted) => {
      const found = new Map<string, JobView>();
      const places = ({ tenant, jobId }: WantedJob) => `${shardOfJobId(jobId)} ${tenant}`;
      for (const some of Map.groupBy(wanted, places).values()) {
        const [{ tenant, jobId }] = some as [WantedJob];
        const ids = [...new Set(some.map((one) => one.jobId))];
        for (const job of await viewJobs(db, shardOfJobId(jobId), tenant, ids)) {
          found.set(`${tenant} ${job.jobId}`, job);
        }
      }
      return wanted.map(({ tenant, jobId }) => found.get(`${tenant} ${jobId}`) ?? null);
    });
  }

  /** The webhook of a delivery; null when it was deleted. */
  async endpoint(deliveryId: string): Promise<Endpoint | null> {
    return await this.#endpoints.ask(deliveryId);
  }

  async job(tenant: string, jobId: string): Promise<JobView | null> {
    return isJobId(jobId) ? await this.#jobs.ask({ tenant, jobId }) : null;
  }
}
