import type { BatchFacts } from '../../core/batch/batch-facts.ts';
import {
  BATCH_KEY,
  type BatchCounts,
  type BatchJob,
  batchStatus,
  type BatchView,
  type MemberState,
} from '../../core/batch/batch.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import type { JobState } from '../../core/job/job.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import { statesOfJobs } from '../edges/related-jobs.ts';

interface BatchRow {
  id: string;
  facts: BatchFacts | null;
  createdAt: Date;
  state: JobState;
  waitsFor: string | null;
  finishedAt: Date | null;
}

const VIEW = statement<BatchRow>(
  'view_batches',
  `select j.id, j.policy -> 'batch' as facts, j.created_at as "createdAt",
     n.state, n.waits_for as "waitsFor", n.finished_at as "finishedAt"
   from unnest($2::uuid[]) as wanted(id)
   cross join lateral (
     select * from longshore.job where shard = $1 and id = wanted.id limit 1
   ) j
   join lateral (
     select * from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) l on l.tenant = $3 and l.key = '${BATCH_KEY}'
   cross join lateral (
     select state, waits_for, null::timestamptz as finished_at
     from longshore.waiting where shard = $1 and id = j.id
     union all
     select state, null, null from longshore.running where shard = $1 and id = j.id
     union all
     select state, null, finished_at from longshore.done where shard = $1 and id = j.id
     limit 1
   ) n
   order by j.id desc`,
);

/** Reads the entries of one index range: a batch has at most 100,000 jobs. */
const COUNT = statement<{ ended: JobState | null; jobs: number }>(
  'count_batch_jobs',
  `select ended, count(*)::int as jobs from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' group by ended`,
);

export async function countBatch(db: Queryable, batchId: string): Promise<BatchCounts> {
  const counts = { total: 0, pending: 0, succeeded: 0, failed: 0, cancelled: 0 };
  for (const { ended, jobs } of await db.run(COUNT, [shardOfJobId(batchId), batchId])) {
    counts.total += jobs;
    counts[(ended ?? 'pending') as MemberState] += jobs;
  }
  return counts;
}

async function viewOf(db: Queryable, row: BatchRow): Promise<BatchView> {
  const { id, facts, state, waitsFor, createdAt, finishedAt } = row;
  const endedAt = finishedAt?.toISOString() ?? null;
  const created = createdAt.toISOString();
  // A batch that was cancelled while it was open accepts no more jobs either.
  const closedAt = facts?.closedAt ?? endedAt;
  return {
    id,
    name: facts?.name ?? null,
    status: batchStatus(state, waitsFor),
    ...(await countBatch(db, id)),
    onComplete: facts?.onComplete ?? null,
    onSuccess: facts?.onSuccess ?? null,
    createdAt: created,
    // The clock of the server may be behind that of the database.
    closedAt: closedAt !== null && closedAt < created ? created : closedAt,
    endedAt,
  };
}

/** Null when the tenant has no such batch. */
export async function readBatch(
  db: Queryable,
  tenant: string,
  id: string,
): Promise<BatchView | null> {
  if (!isJobId(id)) return null;
  const [row] = await db.run(VIEW, [shardOfJobId(id), [id], tenant]);
  return row ? await viewOf(db, row) : null;
}

const LIST = statement<{ id: string }>(
  'list_batches',
  `select j.id from (
     select queue from longshore.queue
     where shard = $1 and key = '${BATCH_KEY}' and version = 1 and tenant = $2 limit 1
   ) q
   cross join lateral (
     select id from longshore.job where shard = $1 and queue = q.queue and id < $3::uuid
     order by id desc limit $4
   ) j
   order by j.id desc`,
);

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Newest first. */
export async function listBatches(
  db: Db,
  tenant: string,
  { afterId, limit }: { afterId: string | null; limit: number },
): Promise<{ batches: BatchView[]; nextId: string | null }> {
  const found: string[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    const rows = await db.run(LIST, [shard, tenant, afterId ?? LAST_ID, limit + 1]);
    found.push(...rows.map(({ id }) => id));
  }
  const ids = found.sort((a, b) => (a < b ? 1 : -1)).slice(0, limit);
  const batches: BatchView[] = [];
  for (const id of ids) {
    const batch = await readBatch(db, tenant, id);
    if (batch) batches.push(batch);
  }
  return { batches, nextId: found.length > limit ? (ids.at(-1) ?? null) : null };
}

interface MemberRow {
  id: string;
  position: number;
  ended: JobState | null;
}

const MEMBERS = statement<MemberRow>(
  'list_batch_jobs',
  `select on_id as id, position, ended from longshore.edge
   where shard = $1 and job_id = $2 and kind = 'child' and position > $3
     and ($4::text is null or ${filterOnly("coalesce(ended::text, 'pending') = $4::text")})
   order by position limit $5`,
);

/** In the order in which they were stored. Null when the tenant has no such batch. */
export async function listBatchJobs(
  db: Queryable,
  tenant: string,
  batchId: string,
  page: { state: MemberState | null; after: number | null; limit: number },
): Promise<{ jobs: BatchJob[]; next: number | null } | null> {
  if (!isJobId(batchId)) return null;
  const shard = shardOfJobId(batchId);
  const [batch] = await db.run(VIEW, [shard, [batchId], tenant]);
  if (!batch) return null;
  const { state, after, limit } = page;
  const rows = await db.run(MEMBERS, [shard, batchId, after ?? -1, state, limit + 1]);
  const shown = rows.slice(0, limit);
  const states = await statesOfJobs(
    db,
    shown.map(({ id }) => id),
  );
  const jobs = shown.map(({ id, position, ended }) => {
    const known = states.get(id);
    const definitionKey = known?.definitionKey ?? null;
    return { jobId: id, definitionKey, status: known?.status ?? ended, position };
  });
  return { jobs, next: rows.length > limit ? (jobs.at(-1)?.position ?? null) : null };
}
