import { largeRefOf } from '../../core/large/large-value.ts';
import { HOOK_PREFIX } from '../../core/definition/hooks.ts';
import { DEFAULT_MAX_ATTEMPTS } from '../../core/definition/definition.ts';
import { FIRST_SHAPE } from '../../core/shape/upgrade.ts';
import { BATCH_CANCELLED, BATCH_OPEN } from '../../core/batch/batch.ts';
import { CHILDREN } from '../../core/dependency/children.ts';
import { PARENTS } from '../../core/dependency/dependency.ts';
import { SLEEP, type WaitsFor } from '../../core/dependency/waits-for.ts';
import { type JobError, type JobState, type JobView, WAITING_STATES } from '../../core/job/job.ts';
import { errorSummary } from '../../core/failure/error-summary.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { type Queryable, statement } from '../connection/db.ts';
import type { Vault } from '../connection/vault.ts';

/**
 * A job as the API shows it: its body and its narrow row. One statement has one snapshot, so the
 * job is in exactly one of the three tables. `limit 1` makes each table a lookup by key; with a
 * plain join the planner may read a whole table when its statistics are old.
 */
const VIEW = statement<ViewRow>(
  'view_jobs',
  `select j.id, l.key, l.version, l.tenant, d.owner,
     coalesce(w.state, r.state, f.state) as state,
     -coalesce(w.rank, r.rank, f.rank) as priority,
     coalesce(w.attempts, r.attempts, f.attempts) as attempts,
     coalesce(w.max_attempts, r.max_attempts, f.max_attempts, d.max_attempts,
       ${DEFAULT_MAX_ATTEMPTS}) as max_attempts,
     j.tags, j.params, (j.policy ->> 'paramsShape')::int as params_shape,
     d.params_shape as current_params_shape, f.result, coalesce(f.error, a.error) as error,
     coalesce(r.progress_fraction, f.progress_fraction) as progress_fraction,
     coalesce(r.progress_message, f.progress_message) as progress_message,
     j.idempotency_key, j.concurrency_key, j.schedule_id, j.scheduled_for, j.created_at,
     coalesce(w.queued_at, r.queued_at, f.queued_at) as queued_at, w.run_at,
     coalesce(w.waits_for, case when w.state = 'scheduled' then a.waits_for end) as waits_for,
     coalesce(w.expires_at, r.expires_at) as expires_at,
     coalesce(r.started_at, f.started_at, a.started_at) as started_at, f.finished_at,
     coalesce(f.finished_at, r.cancel_requested_at, r.started_at,
       greatest(j.created_at, w.queued_at, a.finished_at, a.retried_at)) as updated_at,
     k.heartbeat_at, k.lease_until,
     coalesce(r.cancel_requested_at, f.cancel_requested_at) as cancel_requested_at, r.worker,
     case when w.state = 'queued'
       and w.queued_at < clock_timestamp() - make_interval(secs => $4::float8 / 1000)
       and not exists (
         select 1 from longshore.worker a
         where a.shard = $1 and a.dead_at is null and a.lease_until > clock_timestamp()
           and replace(l.key, '${HOOK_PREFIX}', '') || '@' || l.version = any (a.definitions))
       then w.queued_at end as unserved_since,
     case when w.state = 'queued' then l.paused_at end as paused_since,
     p.load_problem_at as unloadable_since,
     case when p.tenant = l.tenant then p.load_problem end as load_problem
   from unnest($2::uuid[]) as wanted(id)
   cross join lateral (
     select * from longshore.job where shard = $1 and id = wanted.id limit 1
   ) j
   join lateral (
     select * from longshore.queue where shard = $1 and queue = j.queue limit 1
   ) l on l.tenant = $3
   left join lateral (
     select info ->> 'owner' as owner, (info ->> 'maxAttempts')::int as max_attempts,
       coalesce((info ->> 'paramsShape')::int, 1) as params_shape
     from longshore.definition
     where key = l.key and version = l.version limit 1
   ) d on true
   left join lateral (
     select * from longshore.waiting where shard = $1 and id = j.id limit 1
   ) w on true
   left join lateral (
     select * from longshore.running where shard = $1 and id = j.id limit 1
   ) r on true
   left join lateral (
     select * from longshore.done where shard = $1 and id = j.id limit 1
   ) f on true
   left join lateral (
     select * from longshore.worker where shard = $1 and instance = r.worker limit 1
   ) k on true
   left join lateral (
     select p.tenant, p.load_problem, p.load_problem_at from longshore.deployment p
     where p.number = l.version and p.load_problem is not null
       and replace(l.key, '${HOOK_PREFIX}', '') = any (p.keys)
       and not exists (
         select 1 from longshore.worker a
         where a.shard = $1 and a.dead_at is null and a.lease_until > clock_timestamp()
           and replace(l.key, '${HOOK_PREFIX}', '') || '@' || l.version = any (a.definitions))
     limit 1
   ) p on w.state = 'queued'
   left join lateral (
     select error, started_at, finished_at, waits_for, (a.retried ->> 'at')::timestamptz as retried_at
     from longshore.attempt a
     where w.id is not null and a.shard = $1 and a.job_id = j.id
     order by a.claim_no desc limit 1
   ) a on true`,
);

interface ViewRow {
  id: string;
  key: string;
  version: number;
  tenant: string;
  owner: string | null;
  state: JobState;
  priority: number;
  attempts: number;
  max_attempts: number;
  tags: string[] | null;
  params: unknown;
  params_shape: number | null;
  current_params_shape: number | null;
  result: unknown;
  error: JobError | null;
  progress_fraction: number | null;
  progress_message: string | null;
  idempotency_key: string | null;
  concurrency_key: string | null;
  schedule_id: string | null;
  scheduled_for: Date | null;
  created_at: Date;
  queued_at: Date | null;
  run_at: Date | null;
  waits_for: string | null;
  expires_at: Date | null;
  started_at: Date | null;
  finished_at: Date | null;
  updated_at: Date;
  heartbeat_at: Date | null;
  lease_until: Date | null;
  cancel_requested_at: Date | null;
  worker: string | null;
  unserved_since: Date | null;
  paused_since: Date | null;
  unloadable_since: Date | null;
  load_problem: string | null;
}

/**
 * How long a job may wait for a worker with its definition before it counts as unserved: a deploy
 * may be in progress.
 */
const UNSERVED_AFTER_MS = 60_000;

export async function getJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  unservedAfterMs = UNSERVED_AFTER_MS,
): Promise<JobView | null> {
  if (!isJobId(jobId)) return null;
  const [view] = await viewJobs(db, shardOfJobId(jobId), tenant, [jobId], unservedAfterMs);
  return view ?? null;
}

export async function viewJobs(
  db: Queryable,
  shard: number,
  tenant: string,
  ids: readonly string[],
  unservedAfterMs = UNSERVED_AFTER_MS,
): Promise<JobView[]> {
  const rows = await db.run(VIEW, [shard, ids, tenant, unservedAfterMs]);
  return rows.map((row) => toView(row, db.vault));
}

function toView(row: ViewRow, vault: Vault): JobView {
  const hasProgress = row.progress_fraction !== null || row.progress_message !== null;
  return {
    jobId: row.id,
    definitionKey: row.key,
    definitionVersion: row.version,
    tenant: row.tenant,
    owner: row.owner,
    status: row.state,
    priority: row.priority === 0 ? 0 : row.priority,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    tags: row.tags ?? [],
    ...shown(row, vault),
    paramsShape: row.params_shape ?? FIRST_SHAPE,
    currentParamsShape: row.current_params_shape,
    error: row.error,
    errorSummary: errorSummary(row.error),
    progress: hasProgress
      ? { fraction: row.progress_fraction, message: row.progress_message }
      : null,
    idempotencyKey: row.idempotency_key,
    concurrencyKey: row.concurrency_key,
    scheduleId: row.schedule_id,
    scheduledFor: iso(row.scheduled_for),
    waitsFor: waitsForOf(row.waits_for),
    warnings: warningsOf(row),
    createdAt: row.created_at.toISOString(),
    queuedAt: iso(row.queued_at),
    runAt: iso(row.run_at),
    expiresAt: iso(row.expires_at),
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
    updatedAt: row.updated_at.toISOString(),
    heartbeatAt: iso(row.heartbeat_at),
    leaseExpiresAt: iso(row.lease_until),
    cancelRequestedAt: iso(row.cancel_requested_at),
    workerId: row.worker,
  };
}

/** A large value is not read for a view: its size is shown instead. */
function shown(
  { tenant, params, result }: ViewRow,
  vault: Vault,
): Pick<JobView, 'params' | 'result' | 'largeParams' | 'largeResult'> {
  const largeParams = largeRefOf(params);
  const largeResult = largeRefOf(result);
  return {
    params: largeParams ? null : vault.show(tenant, params),
    result: largeResult ? null : (vault.show(tenant, result) ?? null),
    ...(largeParams && { largeParams: { bytes: largeParams.bytes } }),
    ...(largeResult && { largeResult: { bytes: largeResult.bytes } }),
  };
}

function waitsForOf(name: string | null): WaitsFor | null {
  if (name === null) return null;
  if (name === SLEEP) return { sleep: true };
  if (name === CHILDREN || name === BATCH_CANCELLED) return { jobs: 'children' };
  if (name === BATCH_OPEN) return { jobs: 'batch' };
  return name === PARENTS ? { jobs: 'parents' } : { signal: name };
}

function warningsOf(row: ViewRow): JobView['warnings'] {
  const since = { PAUSED: row.paused_since, UNSERVED: row.unserved_since };
  const plain: JobView['warnings'] = Object.entries(since).flatMap(([code, time]) =>
    time ? [{ code, since: iso(time) }] : [],
  );
  const { params_shape: shape, current_params_shape: current } = row;
  if (isWaiting(row.state) && current !== null && (shape ?? FIRST_SHAPE) > current) {
    const detail = `its params have shape ${shape}, and the registered code has shape ${current}: it waits for a worker with newer code`;
    plain.push({ code: 'PARAMS_NEWER', since: null, detail });
  }
  if (!row.unloadable_since) return plain;
  // The problem may name machines of the operator, so other tenants do not see it.
  const why = row.load_problem === null ? '' : `: ${row.load_problem}`;
  const detail = `no worker can load deployment ${row.version}${why}`;
  return [...plain, { code: 'UNLOADABLE', since: iso(row.unloadable_since), detail }];
}

function isWaiting(state: JobState): boolean {
  return (WAITING_STATES as readonly JobState[]).includes(state);
}

function iso(time: Date | null): string | null {
  return time ? time.toISOString() : null;
}
