import { EDGES_MS } from '../../core/series/histogram.ts';

/**
 * Counts the moves of jobs: part of every statement that creates or deletes a job or changes its state. It
 * inserts one narrow row per queue and kind of move, in the same commit, so the sum is always exact
 * (`sql/migrations/0001_schema.sql`). Tests check that every such statement has it, and compare the
 * counters with the jobs after random operations.
 */

/** Higher attempt numbers are counted as this one. */
const ATTEMPT_MAX = 11;

const NOTHING_MORE = 'null::text as code, null::int as attempts, null::interval as took';

/** Jobs that moved from one state to another; null means none. States are SQL. */
export const moves = (was: string, state: string, from: string) =>
  `select queue, ${was}::longshore.job_state as was, ${state}::longshore.job_state as state,
        ${NOTHING_MORE} from ${from}`;

/** The small jobs that a statement with `store/claim/hook-jobs.ts` or `store/claim/delivery-jobs.ts` makes. */
export const WITH_HOOKS = moves('null', "'queued'", 'hook');
export const WITH_DELIVERIES = moves('null', "'queued'", 'delivery');

/** The moves of `store/claim/delivery-jobs.ts`. */
export const MOVED = 'select queue, was, state, code, attempts, at - since as took from moved';

/** The moves of `settle`, with what the processes of the attempts used. */
export const SETTLED = `select queue, was, state, code, attempts, at - since as took, cpu_ms, peak_rss_bytes
        from moved`;

/**
 * Each query returns the moves: queue, was, state, code, attempts, and `took`, the time that the job
 * waited before it started or ran before it stopped.
 */
export const counters = (...queries: string[]) => inserted(queries, '', '');

/** The same, where the first query also returns the usage of the attempts that it ended. */
export const countersWithUsage = (settled: string, ...queries: string[]) => {
  const others = queries.map((query) => `select o.*, null::int, null::bigint from (${query}) o`);
  return inserted(
    [settled, ...others],
    ', cpu_ms, peak_rss_bytes',
    ', sum(cpu_ms), max(peak_rss_bytes)',
  );
};

const inserted = (queries: readonly string[], used: string, sums: string) => `
  counters_moved as (
    insert into longshore.counter_delta
      (shard, queue, was, state, code, attempt, bucket, n, timed, ms${used})
    select $1, queue, was, state, code, attempt, bucket, count(*),
      case when bucket is not null or state in ('succeeded', 'failed', 'cancelled') then count(*) else 0 end,
      sum(ms)${sums}
    from (
      select queue, was, state, code, ms,
        case when state = 'retrying' then least(attempts, ${ATTEMPT_MAX}) end as attempt,
        width_bucket(ms, '{${EDGES_MS.join()}}'::float8[]) as bucket${used}
      from (
        select *, date_part('epoch', took) * 1000 as ms
        from (${queries.join('\n      union all ')}) m
      ) m
    ) m
    group by queue, was, state, code, attempt, bucket
  )`;

/**
 * The short form, for the statements of plain jobs. Each query returns queue, was, state and the
 * number of jobs. Workers write the times of these jobs (`store/counters/timings.ts`).
 */
export const countMoves = (...queries: string[]) => `
  counters_moved as (
    insert into longshore.counter_delta (shard, queue, was, state, n)
    select $1, m.* from (${queries.join('\n      union all ')}) m
  )`;
