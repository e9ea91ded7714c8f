import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import type { JobError } from '../../core/job/job.ts';
import type { AttemptView } from '../../core/views/history.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** A job that snoozes can have any number of attempts; only the latest are returned. */
const ATTEMPTS_MAX = 1_000;
/** Errors longer than this in total cut the list as well. */
const ERRORS_CHARS_MAX = 2 * 1024 * 1024;

/**
 * Every claim that began: failed ones, the running one, and the successful one, which only `done`
 * has. One statement, so that a job that moves meanwhile is not read twice.
 */
const READ = statement<{ attempts: AttemptRow[]; version: number; changes: VersionChange[] }>(
  'read_attempts',
  `select coalesce((
     select json_agg(a.attempt order by a.claim) from (
       select a.claim, to_json(a) as attempt, sum(coalesce(length(a.error::text), 0)) over (order by a.claim desc)
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
   ), '[]') as attempts, q.version,
   coalesce((
     select json_agg(json_build_object('claim', a.claim_no, 'before', a.retried -> 'versionBefore')
       order by a.claim_no)
     from longshore.attempt a
     where a.shard = $1 and a.job_id = $2 and a.retried ->> 'versionBefore' is not null
   ), '[]') as changes
   from longshore.job j
   cross join lateral (
     select q.version, q.tenant from longshore.queue q
     where q.shard = $1 and q.queue = j.queue limit 1
   ) q
   where j.shard = $1 and j.id = $2 and q.tenant = $3`,
);

interface AttemptRow extends Omit<AttemptView, 'durationMs' | 'definitionVersion'> {
  error: JobError | null;
}

/** A retry by hand after this claim changed the version of the job. */
interface VersionChange {
  claim: number;
  before: number;
}

/** The oldest first. Null when this tenant has no such job. */
export async function readAttempts(
  db: Queryable,
  tenant: string,
  jobId: string,
): Promise<AttemptView[] | null> {
  if (!isJobId(jobId)) return null;
  const [row] = await db.run(READ, [shardOfJobId(jobId), jobId, tenant, ATTEMPTS_MAX]);
  if (!row) return null;
  const versionOf = (claim: number) =>
    row.changes.find((change) => change.claim >= claim)?.before ?? row.version;
  return row.attempts.map((attempt) => toView(attempt, versionOf(attempt.claim)));
}

function toView(
  { startedAt, finishedAt, number, claim, ...attempt }: AttemptRow,
  definitionVersion: number,
): AttemptView {
  const started = new Date(startedAt);
  const finished = finishedAt === null ? null : new Date(finishedAt);
  return {
    number,
    claim,
    definitionVersion,
    ...attempt,
    startedAt: started.toISOString(),
    finishedAt: finished?.toISOString() ?? null,
    durationMs: finished ? finished.getTime() - started.getTime() : null,
  };
}
