import type { OwnedState } from '../../core/job/job.ts';
import type { LeaseSeen } from '../../core/queue/lease.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * A worker instance and its lease. The lease belongs to the instance, not to its jobs, so a
 * heartbeat renews all claims by writing one small row. An instance that was declared dead stays
 * dead: its heartbeat is refused, it stops its jobs and registers under a new id.
 */

export interface WorkerInstance {
  instance: string;
  host: string;
  pid: number;
  version: string;
  slots: number;
  leaseMs: number;
  /** The loaded definitions, as key@version. */
  definitions?: readonly string[];
  /** Files of definitions that it could not load, each with the reason. */
  notLoaded?: readonly string[];
}

const REGISTER = statement<{ instance: string }>(
  'register_worker',
  `insert into longshore.worker
     (shard, instance, host, pid, version, slots, started_at, heartbeat_at, lease_until,
      definitions, not_loaded)
   select $1, $2, $3, $4, $5, $6, at, at, at + make_interval(secs => $7::float8 / 1000), $8::text[],
     $9::text[]
   from (select clock_timestamp() as at) c
   returning instance`,
  { ofShard: true },
);

/** A running job, with what `decide()` needs. */
export interface OwnedJob {
  id: string;
  claim: number;
  state: OwnedState;
  attempts: number;
  maxAttempts: number;
  interruptions: number;
}

const OWNED = `coalesce((
      select json_agg(json_build_object('id', r.id, 'claim', r.claim_no, 'state', r.state,
        'attempts', r.attempts, 'maxAttempts', r.max_attempts, 'interruptions', r.interruptions))
      from longshore.running r where r.shard = $1 and r.worker = $2), '[]'::json) as owned`;

const HEARTBEAT = statement<HeartbeatAnswer>(
  'heartbeat',
  `with beat as (
    update longshore.worker
    set heartbeat_at = clock_timestamp(),
        lease_until = clock_timestamp() + make_interval(secs => $3::float8 / 1000),
        contact_ms = $4, suspected_at = null
    where shard = $1 and instance = $2 and dead_at is null
    returning draining_at is not null as draining
  )
  select exists (select 1 from beat) as alive,
    coalesce((select draining from beat), false) as draining,
    ${OWNED}`,
);

const READ_LEASE = statement<LeaseAnswer>(
  'read_lease',
  `select w.dead_at is null as alive, w.draining_at is not null as draining,
     w.suspected_at is not null as suspected,
     (extract(epoch from w.lease_until - clock_timestamp()) * 1000)::float8 as "leaseLeftMs",
     ${OWNED}
   from longshore.worker w where w.shard = $1 and w.instance = $2`,
);

const ANNOUNCE = statement<{ instance: string }>(
  'announce_definitions',
  `update longshore.worker set definitions = $3::text[]
   where shard = $1 and instance = $2 and dead_at is null returning instance`,
);

const RETIRE = statement<{ instance: string }>(
  'retire_worker',
  `update longshore.worker set dead_at = clock_timestamp()
   where shard = $1 and instance = $2 and dead_at is null
   returning instance`,
);

const NOTE_END = statement<{ instance: string }>(
  'note_worker_end',
  `update longshore.worker set ended_by = $4
   where shard = $1 and ended_by is null and (dead_at is null or dead_at >= lease_until)
     and instance = (
       select instance from longshore.worker
       where shard = $1 and host = $2 and pid = $3 and tenant is null
       order by started_at desc limit 1)
   returning instance`,
);

const BURY = statement<{ instance: string; host: string; pid: number }>(
  'bury_workers',
  `update longshore.worker set dead_at = clock_timestamp()
   where shard = $1 and dead_at is null and lease_until < clock_timestamp()
     and not (instance = any ($2::uuid[])
       and lease_until > clock_timestamp() - least(make_interval(secs => $3::float8 / 1000),
         coalesce(make_interval(secs => contact_ms / 1000.0), lease_until - heartbeat_at)))
   returning instance, host, pid`,
);

const FORGET = statement<{ instance: string }>(
  'forget_workers',
  `delete from longshore.worker w
   where w.shard = $1 and w.dead_at < clock_timestamp() - interval '1 day'
     and (select id from longshore.running r
          where r.shard = $1 and r.worker = w.instance limit 1) is null
   returning w.instance`,
);

const ORPHANS = statement<OrphanRow>(
  'find_orphans',
  `select r.id, r.claim_no as claim, r.state, r.attempts, r.max_attempts as "maxAttempts",
     r.interruptions, w.instance as worker, w.host, w.pid, l.key as definition, l.tenant,
     j.traceparent
   from longshore.worker w
   cross join lateral (
     select * from longshore.running r where r.shard = $1 and r.worker = w.instance limit $2
   ) r
   left join lateral (
     select key, tenant from longshore.queue where shard = $1 and queue = r.queue limit 1
   ) l on true
   left join lateral (
     select traceparent from longshore.job where shard = $1 and id = r.id limit 1
   ) j on true
   where w.shard = $1 and w.dead_at is not null
   limit $2`,
);

export interface OrphanRow extends OwnedJob {
  worker: string;
  host: string;
  pid: number;
  /** For log lines. */
  definition: string;
  tenant: string;
  traceparent: string | null;
}

export async function registerWorker(
  db: Queryable,
  shard: number,
  worker: WorkerInstance,
): Promise<void> {
  const { instance, host, pid, version, slots, leaseMs, definitions = [] } = worker;
  const { notLoaded = [] } = worker;
  const facts = [shard, instance, host, pid, version, slots, leaseMs, definitions];
  await db.run(REGISTER, [...facts, notLoaded]);
}

/** The definitions of a worker have changed. */
export async function announceDefinitions(
  db: Queryable,
  shard: number,
  instance: string,
  definitions: readonly string[],
): Promise<void> {
  await db.run(ANNOUNCE, [shard, instance, definitions]);
}

export interface HeartbeatAnswer {
  /**
   * False when this instance was declared dead. It must stop its jobs; other workers own them now.
   */
  alive: boolean;
  /** An operator asked this instance to drain. */
  draining: boolean;
  /** The jobs that this instance owns, with their states; `cancelling` is a cancel request. */
  owned: OwnedJob[];
}

export async function heartbeat(
  db: Queryable,
  shard: number,
  instance: string,
  leaseMs: number,
  contactMs: number | null = null,
): Promise<HeartbeatAnswer> {
  const [row] = await db.run(HEARTBEAT, [shard, instance, leaseMs, contactMs]);
  return row ?? GONE;
}

export interface LeaseAnswer extends HeartbeatAnswer, LeaseSeen {}

/** The same answer without renewing the lease. */
export async function readLease(
  db: Queryable,
  shard: number,
  instance: string,
): Promise<LeaseAnswer> {
  const [row] = await db.run(READ_LEASE, [shard, instance]);
  return row ?? { ...GONE, leaseLeftMs: 0, suspected: false };
}

const GONE: HeartbeatAnswer = { alive: false, draining: false, owned: [] };

/** A worker that stops normally gives up its lease at once. */
export async function retireWorker(db: Queryable, shard: number, instance: string): Promise<void> {
  await db.run(RETIRE, [shard, instance]);
}

/** A process of this machine that its parent saw end without being stopped. */
export interface EndedProcess {
  host: string;
  pid: number;
  /** A signal such as `SIGKILL`, or `exit code 1`. */
  endedBy: string;
}

/**
 * Stores how a worker ended, for people: its jobs still wait for the end of its lease, because
 * other processes of it may live. A pid is used again, so only the newest worker with it can be meant.
 */
export async function noteWorkerEnd(
  db: Queryable,
  shard: number,
  { host, pid, endedBy }: EndedProcess,
): Promise<void> {
  await db.run(NOTE_END, [shard, host, pid, endedBy]);
}

/**
 * Instances that are not yet declared dead, unless their lease ended longer ago than this, or
 * longer than the time after which a worker without contact has stopped, which is its lease
 * without Redis.
 */
export interface Spared {
  workers: readonly string[];
  forMs: number;
}

/** Declares instances dead whose lease has ended, and returns them. */
export async function buryWorkers(
  db: Queryable,
  shard: number,
  spared: Spared = { workers: [], forMs: 0 },
): Promise<{ instance: string; host: string; pid: number }[]> {
  return await db.run(BURY, [shard, spared.workers, spared.forMs]);
}

/** Jobs that dead instances still own, however long dead: a claim may have committed late. */
export async function findOrphans(
  db: Queryable,
  shard: number,
  limit: number,
): Promise<OrphanRow[]> {
  return await db.run(ORPHANS, [shard, limit]);
}

export async function forgetWorkers(db: Queryable, shard: number): Promise<number> {
  return (await db.run(FORGET, [shard])).length;
}
