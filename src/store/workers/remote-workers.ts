import type { JobPolicy, JobState, OwnedState } from '../../core/job/job.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import type { ClaimedJob } from '../claim/claim.ts';
import { type Settled, settle, type Settlement } from '../claim/settle.ts';
import type { WorkerInstance } from './workers.ts';

/**
 * Workers over HTTP. They have rows like other workers, with their key and their tenant, and every
 * statement for them checks that a claim belongs to the instance.
 */
export interface RemoteInstance extends WorkerInstance {
  tenant: string;
  keyId: string;
  address: string;
}

const REGISTER = statement<{ instance: string }>(
  'register_remote_worker',
  `insert into longshore.worker as w
     (shard, instance, host, pid, version, slots, started_at, heartbeat_at, lease_until,
      definitions, tenant, key_id, address, not_loaded)
   select $1, $2, $3, $4, $5, $6, at, at, at + make_interval(secs => $7::float8 / 1000), $8::text[],
     $9, $10, $11, $12::text[]
   from (select clock_timestamp() as at) c
   on conflict (shard, instance) do update
     set heartbeat_at = excluded.heartbeat_at, lease_until = excluded.lease_until,
       definitions = excluded.definitions, slots = excluded.slots, address = excluded.address,
       not_loaded = excluded.not_loaded
     where w.dead_at is null and w.tenant = excluded.tenant and w.key_id = excluded.key_id
   returning instance`,
  { ofShard: true },
);

/** False when the instance is dead, or belongs to another key. May be repeated. */
export async function registerRemoteWorker(
  db: Queryable,
  shard: number,
  worker: RemoteInstance,
): Promise<boolean> {
  const { instance, host, pid, version, slots, leaseMs, definitions = [] } = worker;
  const { tenant, keyId, address, notLoaded = [] } = worker;
  const facts = [shard, instance, host, pid, version, slots, leaseMs, definitions];
  return (await db.run(REGISTER, [...facts, tenant, keyId, address, notLoaded])).length > 0;
}

/** The facts of a remote worker that never change. */
export interface RemoteWorkerRow {
  tenant: string;
  keyId: string;
  definitions: string[];
  leaseMs: number;
}

// The two times of a row differ by some microseconds more or less than the lease: it is rounded.
const FIND = statement<RemoteWorkerRow>(
  'find_remote_worker',
  `select tenant, key_id as "keyId", definitions,
     (round(extract(epoch from lease_until - heartbeat_at) * 100) * 10)::float8 as "leaseMs"
   from longshore.worker
   where shard = $1 and instance = $2 and tenant is not null`,
);

export async function findRemoteWorker(
  db: Queryable,
  shard: number,
  instance: string,
): Promise<RemoteWorkerRow | null> {
  return (await db.run(FIND, [shard, instance]))[0] ?? null;
}

const TURNED = statement<{ instance: string }>(
  'remote_worker_turned',
  `update longshore.worker set turn_at = clock_timestamp()
   where shard = $1 and instance = $2 and dead_at is null returning instance`,
);

/** Records that it asked for jobs. False when it is dead. */
export async function recordTurn(db: Queryable, shard: number, instance: string): Promise<boolean> {
  return (await db.run(TURNED, [shard, instance])).length > 0;
}

const RENEW_RESTING = statement<{ instance: string; news: boolean }>(
  'renew_resting_workers',
  `with u as materialized (
     select instance, clock_timestamp() + make_interval(secs => lease_ms / 1000) as until
     from unnest($2::uuid[], $3::float8[]) as u(instance, lease_ms)
   )
   update longshore.worker w
   set heartbeat_at = clock_timestamp(), turn_at = clock_timestamp(), lease_until = u.until,
       contact_ms = null, suspected_at = null
   from u
   where w.shard = $1 and w.instance = u.instance and w.dead_at is null
   returning w.instance, w.draining_at is not null
     or exists (select 1 from longshore.running r where r.shard = $1 and r.worker = w.instance)
     as news`,
);

/**
 * Renews the leases of workers that wait and hold nothing. Returns those that are alive, and
 * whether a heartbeat would tell them more: to drain, or a job that they own and do not know.
 */
export async function renewResting(
  db: Queryable,
  shard: number,
  workers: readonly { instance: string; leaseMs: number }[],
): Promise<{ instance: string; news: boolean }[]> {
  const instances = workers.map(({ instance }) => instance);
  const leasesMs = workers.map(({ leaseMs }) => leaseMs);
  return await db.run(RENEW_RESTING, [shard, instances, leasesMs]);
}

/** A claim of an instance, with what `decide()` needs. */
export interface HeldJob extends Omit<ClaimedJob, 'paramsJson' | 'seq' | 'waitedMs' | 'watched'> {
  state: OwnedState;
  key: string;
  version: number;
  policy: JobPolicy | null;
}

const HELD = `r.id, r.claim_no as claim, r.state, r.queue, r.rank, r.attempts,
    r.max_attempts as "maxAttempts", r.interruptions, r.permits is not null as limited,
    l.key, l.version, j.policy, j.traceparent`;

const FACTS = `longshore.running r
   cross join lateral (
     select key, version from longshore.queue where shard = $1 and queue = r.queue limit 1
   ) l
   cross join lateral (
     select policy, traceparent, params from longshore.job where shard = $1 and id = r.id limit 1
   ) j
   where r.shard = $1 and r.worker = $2`;

const FIND_HELD = statement<HeldJob & { paramsJson: string }>(
  'find_held_jobs',
  `select ${HELD}, j.params::text as "paramsJson" from ${FACTS} and r.id = any ($3::uuid[])`,
);

/** Those of the jobs that the instance owns. */
export async function findHeldJobs(
  db: Queryable,
  shard: number,
  instance: string,
  ids: readonly string[],
): Promise<(HeldJob & { paramsJson: string })[]> {
  return ids.length === 0 ? [] : await db.run(FIND_HELD, [shard, instance, ids]);
}

const FIND_UNHELD = statement<HeldJob & { paramsJson: string }>(
  'find_unheld_jobs',
  `select ${HELD}, j.params::text as "paramsJson" from ${FACTS}
     and r.id <> all ($3::uuid[]) and r.state = 'running' and r.started_at <= (
       select w.turn_at from longshore.worker w where w.shard = $1 and w.instance = $2)
   order by r.started_at limit $4`,
);

/**
 * Jobs that the instance owned besides these at its last recorded turn, with their params: the answer to
 * their claim was lost. Record a turn first: it keeps `settleUndelivered` from these jobs.
 */
export async function findUnheldJobs(
  db: Queryable,
  shard: number,
  instance: string,
  held: readonly string[],
  limit: number,
): Promise<(HeldJob & { paramsJson: string })[]> {
  return await db.run(FIND_UNHELD, [shard, instance, held, limit]);
}

const LOCK_WORKER = statement<{ instance: string }>(
  'lock_remote_worker',
  'select instance from longshore.worker where shard = $1 and instance = $2 for update',
);

const FIND_UNDELIVERED = statement<{ id: string }>(
  'find_undelivered',
  `select r.id from longshore.running r
   where r.shard = $1 and r.worker = $2 and r.id = any ($3::uuid[]) and r.started_at > (
     select coalesce(w.turn_at, '-infinity') from longshore.worker w
     where w.shard = $1 and w.instance = $2)`,
);

/**
 * Settles claims whose answer was not sent, except those that another call may have delivered
 * meanwhile: it recorded a turn after the claim. The lock of the worker orders the two.
 */
export async function settleUndelivered(
  db: Db,
  shard: number,
  instance: string,
  settlements: readonly Settlement[],
): Promise<Settled[]> {
  const ids = settlements.map(({ id }) => id);
  return await db.transaction(async (tx) => {
    await tx.run(LOCK_WORKER, [shard, instance]);
    const rows = await tx.run(FIND_UNDELIVERED, [shard, instance, ids]);
    const found = new Set(rows.map(({ id }) => id));
    const undelivered = settlements.filter(({ id }) => found.has(id));
    return await settle(tx, shard, undelivered);
  });
}

const SETTLED_BY = statement<{ id: string; next: JobState }>(
  'settled_by_worker',
  `select u.id::text as id, coalesce(d.state, a.next) as next
   from unnest($3::uuid[], $4::int[]) as u(id, claim)
   left join lateral (
     select state from longshore.done
     where shard = $1 and id = u.id and claim_no = u.claim and worker = $2 limit 1
   ) d on true
   left join lateral (
     select next, error_code from longshore.attempt
     where shard = $1 and job_id = u.id and claim_no = u.claim and worker = $2 limit 1
   ) a on true
   where coalesce(d.state, a.next) is not null
     and a.error_code is distinct from 'LEASE_EXPIRED'`,
);

/** The claims whose outcome this instance has already written, with the state that followed. */
export async function settledBy(
  db: Queryable,
  shard: number,
  instance: string,
  claims: readonly { id: string; claim: number }[],
): Promise<Map<string, JobState>> {
  if (claims.length === 0) return new Map();
  const ids = claims.map(({ id }) => id);
  const numbers = claims.map(({ claim }) => claim);
  const rows = await db.run(SETTLED_BY, [shard, instance, ids, numbers]);
  return new Map(rows.map(({ id, next }) => [id, next]));
}
