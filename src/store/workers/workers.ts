import type { OwnedState } from '../../core/job/job.ts';
import type { LeaseSeen } from '../../core/queue/lease.ts';
import { type Queryable, statement } from '../connection/db.ts';

/**
 * A worker instance and its lease. The lease belongs to the instance, not to its jobs, so a
 * heartbeat renews all claims by writing one small row. Death is one-way: an instance that was
 * declared dead finds its heartbeat refused, stops what it runs, and comes back under a new id.
 */

export interface WorkerInstance {
  instance: string;
  host: string;
  pid: number;
  version: string;
  slots: number;
  leaseMs: number;
  /** What it has loaded, as key@version. */
  definitions?: readonly string[];
}

const REGISTER = statement<{ instance: string }>(
  'register_worker',
  `insert into longshore.worker
     (shard, instance, host, pid, version, slots, started_at, heartbeat_at, lease_until,
      definitions)
   select $1, $2, $3, $4, $5, $6, at, at, at + make_interval(secs => $7::float8 / 1000), $8::text[]
   from (select clock_timestamp() as at) c
   returning instance`,
);

/** A job as its owner's rules need it. */
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

const LOOK = statement<LookAnswer>(
  'look_at_lease',
  `select w.dead_at is null as alive, w.draining_at is not null as draining,
     w.suspected_at is not null as suspected,
     (extract(epoch from w.lease_until - clock_timestamp()) * 1000)::float8 as "leaseLeftMs",
     ${OWNED}
   from longshore.worker w where w.shard = $1 and w.instance = $2`,
);

const RETIRE = statement<{ instance: string }>(
  'retire_worker',
  `update longshore.worker set dead_at = clock_timestamp()
   where shard = $1 and instance = $2 and dead_at is null
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
  /** For those who read the log. */
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
  await db.run(REGISTER, [shard, instance, host, pid, version, slots, leaseMs, definitions]);
}

export interface HeartbeatAnswer {
  /** False: this instance was declared dead. It must stop its jobs; they belong to others now. */
  alive: boolean;
  /** Somebody asked this instance to finish what it runs and to leave. */
  draining: boolean;
  /** What the database says this instance owns, and in which state: `cancelling` is a request. */
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

export interface LookAnswer extends HeartbeatAnswer, LeaseSeen {}

/** The same answer without renewing anything: a read that leaves no trace. */
export async function lookAtLease(
  db: Queryable,
  shard: number,
  instance: string,
): Promise<LookAnswer> {
  const [row] = await db.run(LOOK, [shard, instance]);
  return row ?? { ...GONE, leaseLeftMs: 0, suspected: false };
}

const GONE: HeartbeatAnswer = { alive: false, draining: false, owned: [] };

/** A worker that stops in good order gives up its lease at once, not by expiry. */
export async function retireWorker(db: Queryable, shard: number, instance: string): Promise<void> {
  await db.run(RETIRE, [shard, instance]);
}

/**
 * Who is not declared dead yet, unless its lease is over for longer than that; or for longer than the
 * time after which a worker without contact has stopped, which is its lease without Redis.
 */
export interface Spared {
  workers: readonly string[];
  forMs: number;
}

/** Declares instances dead whose lease is over; answers with those that were declared just now. */
export async function buryWorkers(
  db: Queryable,
  shard: number,
  spared: Spared = { workers: [], forMs: 0 },
): Promise<{ instance: string; host: string; pid: number }[]> {
  return await db.run(BURY, [shard, spared.workers, spared.forMs]);
}

/** Jobs still owned by dead instances, however long dead: a claim may have committed late. */
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
