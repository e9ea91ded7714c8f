import { isSystemKey } from '../../core/definition/hooks.ts';
import { mergeWorkers, type WorkerStatus, type WorkerView } from '../../core/queue/worker.ts';
import { type Db, statement } from '../connection/db.ts';

/** Dead instances are kept for a day, and a machine in a crash loop makes many of them. */
const LIMIT = 1_000;

interface WorkerRow {
  instance: string;
  host: string;
  pid: number;
  version: string;
  slots: number;
  running: string[];
  heartbeat_at: Date;
  lease_until: Date;
  started_at: Date;
  status: WorkerStatus;
  definitions: string[] | null;
  lost: boolean;
}

const LIST = statement<WorkerRow>(
  'list_workers',
  `select w.instance, w.host, w.pid, w.version, w.slots, w.heartbeat_at, w.lease_until,
     w.started_at, w.definitions, coalesce(w.dead_at >= w.lease_until, false) as lost,
     case when w.dead_at is not null then 'dead'
       when w.draining_at is not null then 'draining' else 'active' end as status,
     array(
       select r.id from longshore.running r
       where r.shard = $1 and r.worker = w.instance and ($3::text is null or $3 = (
         select l.tenant from longshore.queue l where l.shard = $1 and l.queue = r.queue))
       order by r.started_at, r.id
     ) as running
   from longshore.worker w
   where w.shard = $1
   order by w.dead_at is not null, w.started_at desc
   limit $2`,
);

/** All workers that are known, also the dead ones whose row is still kept, with a tenant's jobs. */
export async function listWorkers(db: Db, tenant: string | null): Promise<WorkerView[]> {
  const rows: WorkerView[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    rows.push(...(await db.run(LIST, [shard, LIMIT, tenant])).map(toView));
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
    running: row.running,
    heartbeatAt: row.heartbeat_at.toISOString(),
    leaseExpiresAt: row.lease_until.toISOString(),
    startedAt: row.started_at.toISOString(),
    status: row.status,
    definitions: (row.definitions ?? []).filter((name) => !isSystemKey(name)),
    lost: row.lost,
  };
}
