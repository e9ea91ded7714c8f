import type { JobCriteria } from '../../core/job/job-criteria.ts';
import { type Queryable, statement } from '../connection/db.ts';
import type { JobSearch } from './search-queues.ts';
import { containsAll, errorText, hasDigits } from './searchable.ts';

/** Jobs checked per statement, and at most per page: 20 µs each, in a table of three million. */
export const FILTER_BATCH = 500;
export const FILTERED_MAX = 1_500;

/**
 * Checks the criteria that have no index on jobs that were found by an index. Each job is read by
 * its key, so the cost does not depend on the size of the tables; the caller limits the number.
 */
const FILTER = statement<{ id: string }>(
  'filter_jobs',
  `select j.id from unnest($2::uuid[]) with ordinality as wanted(id, n)
   cross join lateral (
     select id, queue, params, tags, created_at from longshore.job
     where shard = $1 and id = wanted.id limit 1
   ) j
   left join lateral (
     select id, state, run_at from longshore.waiting where shard = $1 and id = j.id limit 1
   ) w on true
   left join lateral (
     select state, error_code, fingerprint, error, finished_at, worker from longshore.done
     where shard = $1 and id = j.id limit 1
   ) f on true
   left join lateral (
     select state, worker from longshore.running
     where (cardinality($12::longshore.job_state[]) > 0 or $14::text is not null)
       and shard = $1 and id = j.id limit 1
   ) r on true
   left join lateral (
     select error_code, fingerprint, error, worker from longshore.attempt
     where w.id is not null and shard = $1 and job_id = j.id
     order by claim_no desc limit 1
   ) a on true
   left join lateral (
     select key from longshore.queue
     where cardinality($9::text[]) > 0 and shard = $1 and queue = j.queue limit 1
   ) l on true
   where ($3::text is null or coalesce(f.error_code, a.error_code) = $3)
     and ($4::text is null or coalesce(f.fingerprint, a.fingerprint) = $4)
     and ($5::timestamptz is null or w.run_at >= $5)
     and ($6::timestamptz is null or w.run_at < $6)
     and ($7::timestamptz is null or f.finished_at >= $7)
     and ($8::timestamptz is null or f.finished_at < $8)
     and ($10::timestamptz is null
       or (j.created_at <= $10 and coalesce(f.finished_at <= $10, true)))
     and ($11::text is null or j.tags @> array[$11])
     and (cardinality($12::longshore.job_state[]) = 0
       or coalesce(w.state, r.state, f.state) = any ($12))
     and (cardinality($13::text[]) = 0 or j.tags @> $13)
     and ($14::text is null or starts_with(coalesce(r.worker, f.worker, a.worker)::text, $14))
     and ${hasDigits('j.id', '$15')}
     and ${containsAll('$9', [
       errorText('coalesce(f.error_code, a.error_code)', '(coalesce(f.error, a.error))'),
     ])}
   order by wanted.n`,
);

/** In the given order. `asOf` excludes jobs that were created or ended later. */
export async function filterJobs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  criteria: JobCriteria,
  { words, tags, id: part, worker }: JobSearch,
  asOf: string | null,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { errorCode, fingerprint, runAfter, runBefore, finishedAfter, finishedBefore } = criteria;
  const conditions = [errorCode, fingerprint, runAfter, runBefore, finishedAfter, finishedBefore];
  const { tag, statuses } = criteria;
  const values = [shard, ids, ...conditions, words, asOf, tag, statuses, tags, worker, part];
  return (await db.run(FILTER, values)).map(({ id }) => id);
}
