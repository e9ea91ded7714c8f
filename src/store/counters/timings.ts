import { type Queryable, statement } from '../connection/db.ts';

/**
 * How long jobs waited before they started (`running`), or ran before they succeeded; and what the
 * processes of the latter used.
 */
export interface Timing {
  queue: number;
  state: 'running' | 'succeeded';
  /** Bucket of the histogram. */
  bucket: number;
  jobs: number;
  ms: number;
  /** Null where no process belongs to a job. */
  cpuMs: number | null;
  peakRssBytes: number | null;
}

const WRITE_TIMINGS = statement<{ queue: number }>(
  'write_timings',
  `insert into longshore.counter_delta (shard, queue, state, bucket, n, timed, ms, cpu_ms,
     peak_rss_bytes)
   select $1, t.queue, t.state, t.bucket, 0, t.jobs, t.ms, t."cpuMs", t."peakRssBytes"
   from json_to_recordset($2::json) as t(
     queue int, state longshore.job_state, bucket smallint, jobs int, ms float8, "cpuMs" bigint,
     "peakRssBytes" bigint)
   returning queue`,
);

/** Adds the times and the usage of plain jobs to the counters; `settleAndClaim` and `claim` count only their moves. */
export async function writeTimings(
  db: Queryable,
  shard: number,
  timings: readonly Timing[],
): Promise<void> {
  if (timings.length > 0) await db.run(WRITE_TIMINGS, [shard, JSON.stringify(timings)]);
}
