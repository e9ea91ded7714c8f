import type { SchedulerPosition } from '../../core/schedule/schedule-id.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** A scheduler process; each start has a new id. */
export interface SchedulerInstance {
  instance: string;
  host: string;
  pid: number;
  version: string;
}

/**
 * Renews or takes the lease, and counts the other valid ones. The statement does not see its own
 * row, so that is added. The oldest come first, so a new process moves as few buckets as possible.
 */
const BEAT = statement<SchedulerPosition>(
  'scheduler_beat',
  `with clock as materialized (select clock_timestamp() as at),
   me as (
     insert into longshore.scheduler
       (instance, host, pid, version, started_at, heartbeat_at, lease_until)
     select $1, $2, $3, $4, at, at, at + make_interval(secs => $5::float8 / 1000) from clock
     on conflict (instance) do update
       set heartbeat_at = excluded.heartbeat_at, lease_until = excluded.lease_until
     returning instance, started_at
   ),
   forgotten as (
     delete from longshore.scheduler
     where instance <> $1 and lease_until < (select at from clock) - interval '1 hour'
   )
   select 1 + count(o.instance)::int as count,
     (count(o.instance) filter (
       where (o.started_at, o.instance) < (me.started_at, me.instance)))::int as ordinal
   from me left join longshore.scheduler o
     on o.instance <> $1 and o.lease_until > (select at from clock)
   group by me.instance`,
);

/** The position of the process among the live ones. */
export async function beatScheduler(
  db: Queryable,
  { instance, host, pid, version }: SchedulerInstance,
  leaseMs: number,
): Promise<SchedulerPosition> {
  const [position] = await db.run(BEAT, [instance, host, pid, version, leaseMs]);
  if (!position) throw new Error('the scheduler could not be registered');
  return position;
}

const LEAVE = statement<{ instance: string }>(
  'scheduler_leave',
  'delete from longshore.scheduler where instance = $1 returning instance',
);

/** A scheduler that stops normally gives up its lease at once. */
export async function leaveSchedulers(db: Queryable, instance: string): Promise<void> {
  await db.run(LEAVE, [instance]);
}
