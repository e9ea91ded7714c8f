import { BATCH_KEY } from '../../core/batch/batch.ts';
import { PARENTS } from '../../core/dependency/dependency.ts';
import { lockForSignals } from '../claim/resume.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { atCtids, ctidOf, filterOnly, ONCE_PER_ROW } from '../connection/planner.ts';
import { retakeUniqueKeys } from '../enqueue/unique-jobs.ts';
import { unsuccessfulParent } from './unsuccessful-parent.ts';

/**
 * When a job is retried by hand, the jobs that failed because of it wait for it again, and so do those that
 * failed because of them. A job that another parent keeps from running stays failed. If it is a child, the
 * end that its parent knows of is void; the parent itself is not retried, except for a batch. Needs the
 * transaction of the retry.
 *
 * Any number of jobs may have failed because of one, so this transaction revives a bounded number. If there
 * are more, it writes a row to `ended_watched` instead, and the scheduler revives them part by part
 * (`revive-later.ts`).
 */

/** Edges that one transaction revives. */
export const REVIVED_AT_ONCE = 1_000;
/** A level of the graph costs statements, however few edges it has. */
const EDGES_OF_LEVEL = 20;

/** What is left to one transaction; each level of the graph takes its part. */
export interface RevivalBudget {
  edges: number;
}

export const revivalBudget = (): RevivalBudget => ({ edges: REVIVED_AT_ONCE });

/**
 * Marks those of the retried jobs that others wait for, or have waited. It comes after the statement that
 * retries them, which may have waited for the commit of a new edge.
 */
const WATCH = statement<{ id: string }>(
  'watch_retried',
  `with found as materialized (
     select w.place from unnest($2::uuid[]) as u(id)
     cross join lateral (
       select on_id from longshore.edge e where e.on_shard = $1 and e.on_id = u.id limit 1
     ) e
     cross join lateral (
       select ${ctidOf('w')} as place from longshore.waiting w where w.shard = $1 and w.id = u.id limit 1
     ) w
   )
   update longshore.waiting set watched = true
   where ${atCtids('select place from found')}
     and ${filterOnly('shard = $1 and id = any ($2::uuid[])')}
   returning id`,
);

/** An end that the resolver has not seen is void: the job runs again. */
const FORGET_ENDS = statement<{ id: string }>(
  'forget_ends',
  `with found as materialized (
     select e.place from unnest($2::uuid[]) as u(id) cross join lateral (
       select ${ctidOf('e')} as place from longshore.ended_watched e
       where e.shard = $1 and e.id = u.id and e.state is not null ${ONCE_PER_ROW}
     ) e
   )
   delete from longshore.ended_watched
   where ${atCtids('select place from found')}
     and ${filterOnly('shard = $1 and id = any ($2::uuid[])')}
   returning id`,
);

/** The jobs whose wait for these jobs is over, as far as they have an edge. At most $3 edges. */
const FOLLOWERS = statement<Follower>(
  'find_followers',
  `select e.shard, e.job_id as id from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select e.shard, e.job_id from longshore.edge e
     where e.on_shard = $1 and e.on_id = u.id
       and ${filterOnly("e.kind = 'after' and e.ended is not null")} limit $3
   ) e
   limit $3`,
);

interface Follower {
  shard: number;
  id: string;
}

/** For those of these jobs that have followers. */
const LEAVE_FOR_LATER = statement<{ id: string }>(
  'revive_later',
  `insert into longshore.ended_watched (shard, id, revived_to)
   select $1, u.id, '00000000-0000-0000-0000-000000000000' from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select from longshore.edge e
     where e.on_shard = $1 and e.on_id = u.id
       and ${filterOnly("e.kind = 'after' and e.ended is not null")} limit 1
   ) e
   returning id`,
);

/** The jobs that have spawned these and know of their end. */
const PARENTS_OF_CHILDREN = statement<{ shard: number; id: string }>(
  'find_parents_of_children',
  `select distinct e.shard, e.job_id as id from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select e.shard, e.job_id from longshore.edge e
     where e.on_shard = $1 and e.on_id = u.id
       and ${filterOnly("e.kind = 'child' and e.ended is not null")} ${ONCE_PER_ROW}
   ) e`,
);

/** A parent that waits, or waits again, waits for the new end of these children. */
const REOPEN_CHILDREN = statement<{ id: string }>(
  'reopen_children',
  `with hit as materialized (
     select e.place from unnest($2::uuid[]) as u(id) cross join lateral (
       select ${ctidOf('e')} as place from longshore.edge e
       where e.on_shard = $1 and e.on_id = u.id and ${filterOnly("e.kind = 'child'")} ${ONCE_PER_ROW}
     ) e
   )
   update longshore.edge set ended = null
   where ${atCtids('select place from hit')}
     and ${filterOnly('on_shard = $1 and on_id = any ($2::uuid[])')}
   returning on_id as id`,
);

/** Of these, the batches that failed because of their jobs: they wait for them again. */
const FAILED_BATCHES = statement<{ id: string; tenant: string }>(
  'find_failed_batches',
  `select f.id, q.tenant from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select id, queue from longshore.done f
     where f.shard = $1 and f.id = u.id and ${filterOnly("f.error_code = 'BATCH_FAILED'")} limit 1
   ) f
   cross join lateral (
     select tenant, key from longshore.queue where shard = $1 and queue = f.queue limit 1
   ) q
   where q.key = '${BATCH_KEY}'`,
);

/**
 * Opens the edges of jobs that have not started: they wait, or failed because of a parent. Returns the
 * failed ones that no other parent keeps from running.
 */
const REOPEN = statement<{ id: string; tenant: string }>(
  'reopen_edges',
  `with unstarted as materialized (
     select u.id, f.id as failed, f.queue from unnest($2::uuid[]) as u(id)
     left join lateral (
       select id from longshore.waiting w
       where w.shard = $1 and w.id = u.id and ${filterOnly(`w.waits_for = '${PARENTS}'`)} limit 1
     ) w on true
     left join lateral (
       select id, queue from longshore.done f
       where f.shard = $1 and f.id = u.id and ${filterOnly("f.error_code = 'PARENT_FAILED'")} limit 1
     ) f on true
     where coalesce(w.id, f.id) is not null
   ),
   hit as materialized (
     select e.place, e.job_id from unstarted u cross join lateral (
       select ${ctidOf('e')} as place, e.job_id from longshore.edge e
       where e.shard = $1 and e.job_id = u.id and e.kind = 'after'
         and ${filterOnly('e.on_id = any ($3::uuid[])')} ${ONCE_PER_ROW}
     ) e
   ),
   opened as (
     update longshore.edge set ended = null
     where ${atCtids('select place from hit')}
       and ${filterOnly('shard = $1 and on_id = any ($3::uuid[])')}
   )
   select u.id, q.tenant from unstarted u
   cross join lateral (
     select tenant from longshore.queue where shard = $1 and queue = u.queue limit 1
   ) q
   where u.failed is not null and not exists (
     select 1 from (${unsuccessfulParent('u.id').replace('limit 1', '')}) p
     where p.id <> all ($3::uuid[]))`,
);

/** It is an argument, because a retry revives in its turn. */
type Retry = (
  tx: Queryable,
  shard: number,
  ids: readonly string[],
  tenant: string,
  budget: RevivalBudget,
) => Promise<void>;

export async function reviveFollowers(
  tx: Queryable,
  shard: number,
  ids: readonly string[],
  budget: RevivalBudget,
  retry: Retry,
): Promise<void> {
  if (ids.length === 0) return;
  const watched = (await tx.run(WATCH, [shard, ids.toSorted()])).map(({ id }) => id);
  if (watched.length === 0) return;
  await tx.run(FORGET_ENDS, [shard, watched]);
  const parents = await tx.run(PARENTS_OF_CHILDREN, [shard, watched]);
  for (const [of, rows] of Map.groupBy(parents, (row) => row.shard)) {
    await lockForSignals(tx, of, rows.map(({ id }) => id).sort());
  }
  if (parents.length > 0) await tx.run(REOPEN_CHILDREN, [shard, watched]);
  for (const [of, rows] of Map.groupBy(parents, (row) => row.shard)) {
    const batches = await tx.run(FAILED_BATCHES, [of, rows.map(({ id }) => id).sort()]);
    for (const [tenant, here] of Map.groupBy(batches, (row) => row.tenant)) {
      const own = here.map(({ id }) => id);
      await retry(tx, of, own, tenant, budget);
    }
  }
  const edges = Math.max(0, budget.edges);
  const followers = await tx.run(FOLLOWERS, [shard, watched, edges + 1]);
  if (followers.length > edges) return void (await tx.run(LEAVE_FOR_LATER, [shard, watched]));
  budget.edges = edges - Math.max(followers.length, EDGES_OF_LEVEL);
  await reviveThese(tx, watched, followers, budget, retry);
}

/** Opens the edges from these followers to these retried jobs, and retries what failed because of them. */
export async function reviveThese(
  tx: Queryable,
  retried: readonly string[],
  followers: readonly Follower[],
  budget: RevivalBudget,
  retry: Retry,
): Promise<void> {
  for (const [of, rows] of Map.groupBy(followers, (row) => row.shard)) {
    const waiting = [...new Set(rows.map(({ id }) => id))].sort();
    await lockForSignals(tx, of, waiting);
    const failed = await tx.run(REOPEN, [of, waiting, retried]);
    for (const [tenant, here] of Map.groupBy(failed, (row) => row.tenant)) {
      const own = here.map(({ id }) => id);
      const taken = await retakeUniqueKeys(tx, of, own, tenant);
      const free = own.filter((id) => !taken.has(id));
      await retry(tx, of, free, tenant, budget);
    }
  }
}
