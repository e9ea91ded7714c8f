import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Queryable, statement } from '../connection/db.ts';

const JOB_TENANT = statement<{ tenant: string }>(
  'job_tenant',
  `select l.tenant
   from (select queue from longshore.job where shard = $1 and id = $2 limit 1) j
   cross join lateral (
     select tenant from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) l`,
);

/** The tenant that a job belongs to, for callers who may act for every tenant. */
export async function readJobTenant(db: Queryable, jobId: string): Promise<string | null> {
  const [row] = await db.run(JOB_TENANT, [shardOfJobId(jobId), jobId]);
  return row?.tenant ?? null;
}
