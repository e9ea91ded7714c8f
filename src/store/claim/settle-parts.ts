import { TERMINAL_STATES, WAITING_STATES } from '../../core/job/job.ts';
import { tellWatchers } from '../edges/tell-watchers.ts';
import { ENDED } from './hook-jobs.ts';

/** The parts of the statement `settle`. Each is one CTE; $1 is the shard. */

/** The lists of `core/job/job.ts`. A state in none of them would lose the job. */
const goesTo = (states: readonly string[]) => `next in ('${states.join("', '")}')`;

/** One row: the time of the statement, the same for all that it writes. */
export const CLOCK = 'clock as materialized (select clock_timestamp() as at)';

/**
 * The fence: the rows of `running` that the settlements `u` still own, locked. A claim that was lost,
 * or whose state has changed since the decision, yields no row.
 */
export const OWNED = `
  owned as materialized (
    select r.*, u.n, u.next, u.delay_ms, u.attempt_refunded, u.interrupted, u.attempted, u.waits_for, u.error_code, u.error,
      u.fingerprint, u.result, u.pid, u.exit_code, u.signal, u.peak_rss_bytes, u.cpu_ms
    from u cross join lateral (
      select * from longshore.running r
      where r.shard = $1 and r.id = u.id and r.claim_no = u.claim and r.state = u.was
      limit 1 for update
    ) r
  )`;

/** Deletes the owned rows; yields none. */
export const DELETE_RUNNING = `
  left_running as (
    delete from longshore.running
    where shard = $1 and id = any (array(select id from owned))
  )`;

/** The jobs that ended for good, as rows of `done`. */
export const INSERT_DONE = `
  ended as (
    insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at, cancel_requested_at, cancel_requested_by, finished_at,
      progress_fraction, progress_message, pid, exit_code, signal, peak_rss_bytes, cpu_ms,
      error_code, error, fingerprint, result)
    select shard, id, queue, next, rank, attempts - attempt_refunded, max_attempts, claim_no,
      interruptions, queued_at, worker, started_at, cancel_requested_at, cancel_requested_by, at,
      progress_fraction, progress_message, pid, exit_code, signal, peak_rss_bytes, cpu_ms,
      error_code, error::json, fingerprint, result::json
    from owned, clock where ${goesTo(TERMINAL_STATES)}
    returning ${ENDED}
  )`;

/** Whether the end of an owned job is news for others. */
const ENDS_WATCHED = `watched and ${goesTo(TERMINAL_STATES)}`;

/** Tells the resolver of watched jobs that ended; yields none. */
export const TELL_WATCHERS = tellWatchers(
  `select shard, id, next from owned where ${ENDS_WATCHED}`,
);

/**
 * The jobs that wait again; yields none. A lost or interrupted job returns to the position at which it was
 * last queued (`queued_at`): jobs that were enqueued after it stay behind it.
 */
export const INSERT_WAITING = `
  again as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, key_limiter, run_at, expires_at,
      attempts, max_attempts, claim_no, interruptions, queued_at, has_permit, fails_unserved, waits_for, watched)
    select shard, id, queue, next, rank,
      case when next = 'queued' then
        (extract(epoch from case when attempted then queued_at else at end) * 1000000)::bigint + n end,
      key_limiter,
      case when next <> 'queued' then at + make_interval(secs => delay_ms / 1000.0) end,
      expires_at, attempts - attempt_refunded, max_attempts, claim_no, interruptions + interrupted,
      case when next = 'queued' then at end,
      coalesce(next = 'queued' and key_limiter = any (permits), false), fails_unserved,
      case when next = 'suspended' then waits_for end, watched
    from owned, clock where ${goesTo(WAITING_STATES)}
  )`;

/** A row of `attempt` for each claim that started and did not succeed, or was cancelled; yields none. */
export const INSERT_ATTEMPT = `
  tried as (
    insert into longshore.attempt (shard, job_id, claim_no, number, worker, pid, started_at,
      finished_at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error, fingerprint,
      queued_at, cancel_requested_at, cancel_requested_by, next, waits_for, run_at)
    select shard, id, claim_no, attempts, worker, pid, case when attempted then started_at end,
      at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error::json, fingerprint,
      queued_at, cancel_requested_at, cancel_requested_by, next, waits_for, case when next in ('scheduled', 'retrying', 'suspended')
        then at + make_interval(secs => delay_ms / 1000.0) end
    from owned, clock where next = 'cancelled' or (next <> 'succeeded' and attempted)
  )`;

export interface SettledRow {
  id: string;
  queue: number;
  rank: number;
  claimable: boolean;
  limiter: string | null;
  watched: boolean | null;
}

/** The answer about the owned jobs. */
export const SETTLED_ROWS = `select id, queue, rank, next = 'queued' or permits is not null as claimable,
    null as limiter, ${ENDS_WATCHED} as watched
  from owned`;
