import {
  type EndState,
  FAILED_CHILDREN_MAX,
  FOLLOWERS_MAX,
  type RelatedJob,
  type RelatedJobs,
} from '../../core/dependency/related.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import type { JobState } from '../../core/job/job.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { filterOnly, ONCE_PER_ROW } from '../connection/planner.ts';

const OWNER = statement<{ tenant: string }>(
  'owner_of_job',
  `select q.tenant from longshore.job j
   cross join lateral (
     select tenant from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) q
   where j.shard = $1 and j.id = $2`,
);

const PARENTS = statement<{ id: string; ended: JobState | null }>(
  'related_parents',
  `select on_id as id, ended from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'after' order by position`,
);

const FOLLOWERS = statement<{ id: string }>(
  'related_followers',
  `select e.id from (
     select job_id as id from longshore.edge
     where on_shard = $1 and on_id = $2 and ${filterOnly("kind = 'after'")} ${ONCE_PER_ROW}
   ) e order by e.id limit $3`,
);

const SPAWNED_BY = statement<{ id: string }>(
  'related_spawner',
  `select job_id as id from longshore.edge
   where on_shard = $1 and on_id = $2 and ${filterOnly("kind = 'child'")} limit 1`,
);

const CHILDREN = statement<{ id: string; ended: JobState | null }>(
  'related_children',
  `select on_id as id, ended from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' order by position limit $3`,
);

/** A job has at most 10,000 children, a batch 100,000. */
const COUNT_CHILDREN = statement<{ total: number; open: number } & Record<EndState, number>>(
  'count_children',
  `select count(*)::int as total, count(*) filter (where ended is null)::int as open,
     count(*) filter (where ended = 'succeeded')::int as succeeded,
     count(*) filter (where ended = 'failed')::int as failed,
     count(*) filter (where ended = 'cancelled')::int as cancelled
   from longshore.edge where shard = $1 and job_id = $2 and kind = 'child'`,
);

const FAILED_CHILDREN = statement<{ id: string; ended: JobState | null }>(
  'related_failed_children',
  `select on_id as id, ended from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' and ${filterOnly("ended = 'failed'")}
   order by position limit $3`,
);

const STATES = statement<{ id: string; key: string; state: JobState }>(
  'states_of_jobs',
  `select u.id, q.key, n.state from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select state, queue from longshore.waiting where shard = $1 and id = u.id
     union all
     select state, queue from longshore.running where shard = $1 and id = u.id
     union all
     select state, queue from longshore.done where shard = $1 and id = u.id
     limit 1
   ) n
   cross join lateral (
     select key from longshore.queue where shard = $1 and queue = n.queue limit 1
   ) q`,
);

/** By id; without those that are deleted. */
export async function statesOfJobs(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, RelatedJob>> {
  const states = new Map<string, RelatedJob>();
  for (const [of, here] of Map.groupBy(ids, shardOfJobId)) {
    for (const { id, key, state } of await db.run(STATES, [of, here])) {
      states.set(id, { jobId: id, definitionKey: key, status: state });
    }
  }
  return states;
}

const NO_CHILDREN = { total: 0, open: 0, succeeded: 0, failed: 0, cancelled: 0 };

/** Null when there is no such job. Related jobs are of the same tenant. */
export async function relatedJobs(
  db: Queryable,
  tenant: string,
  jobId: string,
): Promise<RelatedJobs | null> {
  if (!isJobId(jobId)) return null;
  const shard = shardOfJobId(jobId);
  const [owner] = await db.run(OWNER, [shard, jobId]);
  if (owner?.tenant !== tenant) return null;
  const parents = await db.run(PARENTS, [shard, jobId]);
  const followers = await db.run(FOLLOWERS, [shard, jobId, FOLLOWERS_MAX + 1]);
  const shown = followers.slice(0, FOLLOWERS_MAX);
  const [spawner] = await db.run(SPAWNED_BY, [shard, jobId]);
  const children = await db.run(CHILDREN, [shard, jobId, FOLLOWERS_MAX]);
  const [count] = children.length > 0 ? await db.run(COUNT_CHILDREN, [shard, jobId]) : [];
  const { total, open, ...ended } = count ?? NO_CHILDREN;
  const failed =
    ended.failed > 0 ? await db.run(FAILED_CHILDREN, [shard, jobId, FAILED_CHILDREN_MAX]) : [];
  const all = [...parents, ...shown, ...(spawner ? [spawner] : []), ...children, ...failed];
  const states = await statesOfJobs(db, [...new Set(all.map(({ id }) => id))]);
  const gone = { definitionKey: null, status: null };
  const jobOf = ({ id, ended = null }: { id: string; ended?: JobState | null }) =>
    states.get(id) ?? { ...gone, jobId: id, status: ended };
  return {
    parents: parents.map(jobOf),
    followers: shown.map(jobOf),
    moreFollowers: followers.length > shown.length,
    spawnedBy: spawner ? jobOf(spawner) : null,
    children: children.map(jobOf),
    childrenTotal: total,
    childrenOpen: open,
    childrenEnded: ended,
    failedChildren: failed.map(jobOf),
  };
}
