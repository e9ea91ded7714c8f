import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { isLinkStep } from '../../core/signal/signal-link.ts';
import type { StepsView, StepView } from '../../core/views/history.ts';
import { type Db, statement } from '../connection/db.ts';

/** The server holds the answer in memory. */
const STEPS_MAX = 1_000;
const BYTES_MAX = 4 * 1024 * 1024;

/** What a job stored, the oldest first. The checkpoint has an empty name. */
const READ = statement<{
  name: string;
  claim: number;
  at: Date;
  durationMs: number | null;
  valueJson: string;
  rest: number;
}>(
  'read_steps',
  `select s.name, s.claim_no as claim, s.at, s.duration_ms as "durationMs", s.value::text as "valueJson",
     (s.n > ${STEPS_MAX} or s.bytes > ${BYTES_MAX})::int as rest
   from (
     select name, claim_no, at, duration_ms, value, row_number() over w as n,
       sum(octet_length(value::text)) over w as bytes
     from longshore.step
     where shard = $1 and job_id = $2
     window w as (order by at, name)
     order by at, name limit ${STEPS_MAX} + 1
   ) s
   where exists (
     select 1 from longshore.job j
     cross join lateral (
       select q.tenant from longshore.queue q
       where q.shard = $1 and q.queue = j.queue limit 1
     ) q
     where j.shard = $1 and j.id = $2 and q.tenant = $3
   )
   order by s.at, s.name`,
);

export async function readSteps(db: Db, tenant: string, jobId: string): Promise<StepsView> {
  if (!isJobId(jobId)) return { steps: [], checkpoint: null, complete: true };
  const rows = await db.run(READ, [shardOfJobId(jobId), jobId, tenant]);
  const views = rows
    .filter(({ rest }) => rest === 0)
    .map(({ name, claim, at, durationMs, valueJson }): StepView => {
      const value = db.vault.show(tenant, JSON.parse(valueJson) as unknown);
      return { name, claim, at: at.toISOString(), durationMs, value };
    });
  const checkpoint = views.find(({ name }) => name === '');
  return {
    steps: views.filter((view) => view !== checkpoint && !isLinkStep(view.name)),
    checkpoint: checkpoint ? { at: checkpoint.at, value: checkpoint.value } : null,
    complete: views.length === rows.length,
  };
}
