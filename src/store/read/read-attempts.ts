import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import type { JobError } from '../../core/job/job.ts';
import type { AttemptView } from '../../core/views/history.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** A job that snoozes may have any number of them; then the latest are told. */
const ATTEMPTS_MAX = 1_000;
/** The same where their errors are longer than this together. */
const ERRORS_CHARS_MAX = 2 * 1024 * 1024;

/**
 * Every claim that began: those that did not end the job well, the one that runs now, and the one
 * that ended it well, of which only `done` knows. One statement, so that a job that moves meanwhile
 * is not seen twice.
 */
const READ = statement<{ attempts: AttemptRow[] }>(
  'read_attempts',
  `select coalesce((
     select json_agg(a.told order by a.claim) from (
       select a.claim, to_json(a) as told, sum(coalesce(length(a.error::text), 0)) over (order by a.claim desc)
         - coalesce(length(a.error::text), 0) as chars_after
       from (select * from (
         select claim_no as claim, number, worker as "workerId", pid, started_at as "startedAt",
           finished_at as "finishedAt", exit_code as "exitCode", signal,
           peak_rss_bytes as "peakRssBytes", cpu_ms as "cpuMs", error, next as outcome
         from longshore.attempt
         where shard = $1 and job_id = $2 and started_at is not null
         union all
         select claim_no, attempts, worker, null, started_at, null, null, null, null, null, null,
           null
         from longshore.running where shard = $1 and id = $2
         union all
         select claim_no, attempts, worker, pid, started_at, finished_at, exit_code, signal,
           peak_rss_bytes, cpu_ms, null, state
         from longshore.done where shard = $1 and id = $2 and state = 'succeeded'
       ) a
       order by a.claim desc limit $4) a
     ) a where a.chars_after < ${ERRORS_CHARS_MAX}
   ), '[]') as attempts
   from longshore.job j
   where j.shard = $1 and j.id = $2
     and (select tenant from longshore.queue l where l.shard = $1 and l.queue = j.queue) = $3`,
);

interface AttemptRow extends Omit<AttemptView, 'durationMs'> {
  error: JobError | null;
}

/** The oldest first. Null: this tenant has no such job. */
export async function readAttempts(
  db: Queryable,
  tenant: string,
  jobId: string,
): Promise<AttemptView[] | null> {
  if (!isJobId(jobId)) return null;
  const [row] = await db.run(READ, [shardOfJobId(jobId), jobId, tenant, ATTEMPTS_MAX]);
  return row ? row.attempts.map(toView) : null;
}

function toView({ startedAt, finishedAt, ...attempt }: AttemptRow): AttemptView {
  const started = new Date(startedAt);
  const finished = finishedAt === null ? null : new Date(finishedAt);
  return {
    ...attempt,
    startedAt: started.toISOString(),
    finishedAt: finished?.toISOString() ?? null,
    durationMs: finished ? finished.getTime() - started.getTime() : null,
  };
}
