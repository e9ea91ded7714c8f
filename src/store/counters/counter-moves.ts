import { EDGES_MS } from '../../core/views/histogram.ts';

/**
 * Counts what a statement moves: a part of every statement that makes a job, removes one, or changes
 * its state. One narrow row for each queue and kind of move, in the commit of the move itself, so the
 * sum is never wrong (`sql/migrations/0001_schema.sql`). A test holds every statement to it, and others
 * count the jobs themselves after random work.
 */

/** Attempts are told apart up to here; what fails more often is counted as this one. */
const ATTEMPT_MAX = 11;

const NOTHING_MORE = 'null::text as code, null::int as attempts, null::interval as took';

/** Jobs that went from one state to another; null is nowhere. States are SQL. */
export const moves = (was: string, state: string, from: string) =>
  `select queue, ${was}::longshore.job_state as was, ${state}::longshore.job_state as state,
        ${NOTHING_MORE} from ${from}`;

/** The small jobs that a statement with `store/claim/hook-jobs.ts` or `store/claim/delivery-jobs.ts` makes. */
export const WITH_HOOKS = moves('null', "'queued'", 'hook');
export const WITH_DELIVERIES = moves('null', "'queued'", 'delivery');

/** What a claim took, after so long a wait. */
export const started = (taken: string) =>
  `select queue, state as was, 'running'::longshore.job_state as state, null::text as code,
        null::int as attempts, clock_timestamp() - queued_at as took from ${taken}`;

/** What moved by `store/claim/delivery-jobs.ts`, where it is told how and since when. */
export const MOVED = 'select queue, was, state, code, attempts, at - since as took from moved';

/**
 * Each query answers with what moved: queue, was, state, code, attempts, and `took`, the time that the
 * job had waited before it began or had run before it stopped.
 */
export const counters = (...queries: string[]) => `
  counters_moved as (
    insert into longshore.counter_delta (shard, queue, was, state, code, attempt, bucket, n, ms)
    select $1, queue, was, state, code, attempt, bucket, count(*), sum(ms)
    from (
      select queue, was, state, code, ms,
        case when state = 'retrying' then least(attempts, ${ATTEMPT_MAX}) end as attempt,
        width_bucket(ms, '{${EDGES_MS.join()}}'::float8[]) as bucket
      from (
        select *, date_part('epoch', took) * 1000 as ms
        from (${queries.join('\n      union all ')}) m
      ) m
    ) m
    group by queue, was, state, code, attempt, bucket
  )`;
