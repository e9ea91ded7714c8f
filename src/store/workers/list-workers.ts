import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { isSystemKey } from '../../core/definition/hooks.ts';
import {
  type HeldJob,
  mergeWorkers,
  type WorkerStatus,
  type WorkerView,
} from '../../core/queue/worker.ts';
import { type Db, statement } from '../connection/db.ts';

/** Dead instances are kept for a day, and a crash loop makes many of them. */
const LIMIT = 1_000;

interface WorkerRow {
  instance: string;
  host: string;
  pid: number;
  version: string;
  slots: number;
  jobs: HeldJob[];
  busy: number;
  heartbeat_at: Date;
  lease_until: Date;
  started_at: Date;
  status: WorkerStatus;
  definitions: string[] | null;
  not_loaded: string[];
  lost: boolean;
  ended_by: string | null;
  tenant: string | null;
  key_id: string | null;
  address: string | null;
  turn_at: Date | null;
}

const LIST = statement<WorkerRow>(
  'list_workers',
  `select w.instance, w.host, w.pid, w.version, w.slots, w.heartbeat_at, w.lease_until,
     w.started_at, w.definitions, w.tenant, w.key_id, w.address, w.turn_at, w.ended_by,
     coalesce(w.dead_at >= w.lease_until, w.ended_by is not null) as lost,
     case when w.tenant = $3 or coalesce($3, $4) = $4 then w.not_loaded else '{}' end as not_loaded,
     case when coalesce(w.dead_at::text, w.ended_by) is not null then 'dead'
       when w.draining_at is not null then 'draining' else 'active' end as status,
     h.busy, h.jobs
   from longshore.worker w
   cross join lateral (
     select count(*)::int as busy, coalesce(json_agg(json_build_object('jobId', r.id,
         'definitionKey', q.key, 'definitionVersion', q.version, 'tenant', q.tenant,
         'startedAt', to_char(r.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
       order by r.started_at, r.id) filter (where q.tenant = coalesce($3, q.tenant)), '[]'::json) as jobs
     from longshore.running r
     left join lateral (
       select key, version, tenant from longshore.queue where shard = $1 and queue = r.queue limit 1
     ) q on true
     where r.shard = $1 and r.worker = w.instance
   ) h
   where w.shard = $1
   order by w.dead_at is not null, w.started_at desc
   limit $2`,
);

/**
 * All workers, including dead ones whose row is still kept, with the jobs of a tenant, or of all.
 * Every caller gets the number of busy slots: without it a tenant takes a full worker for a free one.
 * Errors of shared code are for the default tenant, which operates it; a tenant sees those of its workers.
 */
export async function listWorkers(db: Db, tenant: string | null): Promise<WorkerView[]> {
  const rows: WorkerView[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    rows.push(...(await db.run(LIST, [shard, LIMIT, tenant, DEFAULT_TENANT])).map(toView));
  }
  return mergeWorkers(rows);
}

function toView(row: WorkerRow): WorkerView {
  return {
    workerId: row.instance,
    host: row.host,
    pid: row.pid,
    version: row.version,
    slots: row.slots,
    running: row.jobs.map(({ jobId }) => jobId),
    jobs: row.jobs,
    busy: row.busy,
    heartbeatAt: row.heartbeat_at.toISOString(),
    leaseExpiresAt: row.lease_until.toISOString(),
    startedAt: row.started_at.toISOString(),
    status: row.status,
    definitions: (row.definitions ?? []).filter((name) => !isSystemKey(name)),
    notLoaded: row.not_loaded,
    lost: row.lost,
    endedBy: row.ended_by,
    transport: row.tenant === null ? 'database' : 'http',
    tenant: row.tenant,
    keyId: row.key_id === '' ? null : row.key_id,
    address: row.address,
    turnAt: row.turn_at?.toISOString() ?? null,
  };
}
