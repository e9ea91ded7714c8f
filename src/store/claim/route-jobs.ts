import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { VERSION_WHEN_DUE } from '../../core/job/new-job.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { distributedFunction } from '../connection/distributed-function.ts';
import type { LevelHint } from '../connection/wake.ts';

/** At most this many of a queue at a time; the promoter moves no more at once. */
const AT_ONCE = 2_000;

/** The same for Citus, where a function that reads is called by no statement with tables. */
const ROUTE_ON_CITUS = distributedFunction({
  name: 'route_jobs',
  args: 'p_shard smallint, p_queues integer[]',
  returns: 'table (id uuid)',
  body: `declare
    due uuid[];
  begin
    due := array(
      select w.id from longshore.waiting w
      where w.shard = p_shard and w.queue = any (p_queues) and (w.seq is not null or w.blocked is not null)
      limit ${AT_ONCE});
    due := array(
      select w.id from longshore.waiting w
      where w.shard = p_shard and w.id = any (due) and w.queue = any (p_queues) for update);
    perform longshore.follow_release(p_shard, due);
    return query select unnest(due);
  end`,
});

/**
 * Jobs that became queued in a queue of version 0 get the version of the release now: no worker
 * serves version 0. If a process dies before, the sweep finds them.
 */
const ROUTE = statement<{ id: string }>(
  'route_jobs',
  `with due as materialized (
     select d.id from unnest($2::int[]) as q(queue)
     cross join lateral (
       (select w.id from longshore.waiting w
        where w.shard = $1 and w.queue = q.queue and w.seq is not null limit ${AT_ONCE})
       union all
       (select w.id from longshore.waiting w
        where w.shard = $1 and w.queue = q.queue and w.blocked is not null limit ${AT_ONCE})
     ) d
   ),
   held as materialized (
     select h.id from due d cross join lateral (
       select w.id from longshore.waiting w
       where w.id = d.id and w.shard = $1 and w.queue = any ($2::int[]) limit 1 for update
     ) h
   ),
   moved as materialized (
     select count(*) from longshore.follow_release($1, array(select id from held))
   )
   select h.id from held h, moved`,
  { citus: `select id from ${ROUTE_ON_CITUS.call('$1::smallint, $2::int[]')}` },
);

const LEVELS = statement<{ queue: number; rank: number }>(
  'levels_of_jobs',
  `select distinct w.queue, w.rank from unnest($2::uuid[]) as j(id)
   cross join lateral (
     select queue, rank from longshore.waiting where id = j.id and shard = $1 limit 1
   ) w`,
);

/**
 * Queues of version 0; and of version 1, if only deployments have the definition: jobs that were
 * enqueued before the first release got that version.
 */
const UNVERSIONED = statement<{ queue: number }>(
  'unversioned_queues',
  `select q.queue from longshore.queue q
   where q.shard = $1 and (q.version = ${VERSION_WHEN_DUE} or q.version = 1
     and exists (select 1 from longshore.release r
                 where r.key = q.key and r.tenant in (q.tenant, '${DEFAULT_TENANT}'))
     and not exists (select 1 from longshore.definition d where d.key = q.key and d.version = 1))`,
);

/** Returns the levels that have these jobs now. */
export async function routeJobs(
  db: Queryable,
  shard: number,
  queues: readonly number[],
): Promise<LevelHint[]> {
  if (queues.length === 0) return [];
  const routed = await db.run(ROUTE, [shard, queues]);
  if (routed.length === 0) return [];
  const ids = routed.map(({ id }) => id);
  return (await db.run(LEVELS, [shard, ids])).map((level) => ({ shard, ...level }));
}

/** Routes what a process left behind that died, and what was enqueued before the first release. */
export async function routeLeftJobs(db: Queryable, shard: number): Promise<LevelHint[]> {
  const queues = await db.run(UNVERSIONED, [shard]);
  return await routeJobs(
    db,
    shard,
    queues.map(({ queue }) => queue),
  );
}
