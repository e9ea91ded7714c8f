import type { JobCriteria } from '../../core/job/job-criteria.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { SEARCHABLE } from './searchable.ts';

/** Jobs sieved per statement, and per page at most: 20 µs each, in a table of three million. */
export const SIEVE_SIZE = 500;
export const SIEVED_MAX = 1_500;

/**
 * Of jobs that were found in the order of an index, those that fit what no index knows. Each is
 * looked up by its key, so this costs the same for every job however many there are; who asks says
 * how many may be looked at.
 */
const SIEVE = statement<{ id: string }>(
  'sieve_jobs',
  `select j.id from unnest($2::uuid[]) with ordinality as wanted(id, n)
   cross join lateral (
     select id, params, tags, created_at from longshore.job where shard = $1 and id = wanted.id limit 1
   ) j
   left join lateral (
     select id, state, run_at from longshore.waiting where shard = $1 and id = j.id limit 1
   ) w on true
   left join lateral (
     select state, error_code, fingerprint, error, finished_at from longshore.done
     where shard = $1 and id = j.id limit 1
   ) f on true
   left join lateral (
     select state from longshore.running
     where cardinality($12::longshore.job_state[]) > 0 and shard = $1 and id = j.id limit 1
   ) r on true
   left join lateral (
     select error_code, fingerprint, error from longshore.attempt
     where w.id is not null and shard = $1 and job_id = j.id
     order by claim_no desc limit 1
   ) a on true
   where ($3::text is null or coalesce(f.error_code, a.error_code) = $3)
     and ($4::text is null or coalesce(f.fingerprint, a.fingerprint) = $4)
     and ($5::timestamptz is null or w.run_at >= $5)
     and ($6::timestamptz is null or w.run_at < $6)
     and ($7::timestamptz is null or f.finished_at >= $7)
     and ($8::timestamptz is null or f.finished_at < $8)
     and ($9::text is null
       or position(lower($9) in lower(coalesce(f.error, a.error) ->> 'message')) > 0
       or position(lower($9) in lower(${SEARCHABLE})) > 0)
     and ($10::timestamptz is null
       or (j.created_at <= $10 and coalesce(f.finished_at <= $10, true)))
     and ($11::text is null or j.tags @> array[$11])
     and (cardinality($12::longshore.job_state[]) = 0
       or coalesce(w.state, r.state, f.state) = any ($12))
   order by wanted.n`,
);

/** In the order in which they were given. `asOf` leaves out what was made, or ended, after it. */
export async function sieveJobs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  criteria: JobCriteria,
  asOf: string | null,
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { errorCode, fingerprint, runAfter, runBefore, finishedAfter, finishedBefore, q, tag } =
    criteria;
  const conditions = [errorCode, fingerprint, runAfter, runBefore, finishedAfter, finishedBefore];
  const rows = await db.run(SIEVE, [shard, ids, ...conditions, q, asOf, tag, criteria.statuses]);
  return rows.map(({ id }) => id);
}
