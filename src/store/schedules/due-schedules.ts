import type { SlotKey } from '../../core/schedule/slot-plan.ts';
import { NOW_WITHIN, piece } from '../connection/backend.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { openRow, SCHEDULE_COLUMNS, type ScheduleRow } from './schedule-row.ts';

/**
 * Locks the schedules that are due by the database's clock. Rows that another scheduler has locked
 * are skipped, and so are rows that are no longer due when they are locked.
 */
export interface DueSchedule extends ScheduleRow {
  now: Date;
  /** Whether an earlier job has not ended; only read when the overlap policy needs it. */
  active: boolean;
}

const DUE_COLUMNS = `${SCHEDULE_COLUMNS}, (select at from clock) as now,
   s.overlap <> 'allow' and (
     exists (select 1 from longshore.waiting w
       where w.shard = $1 and w.id = any (s.recent_jobs))
     or exists (select 1 from longshore.running r
       where r.shard = $1 and r.id = any (s.recent_jobs))) as active`;

const LOCK_DUE = statement<DueSchedule>(
  'lock_due_schedules',
  `with clock as materialized (select clock_timestamp() as at),
   s as materialized (
     select d.* from unnest($2::smallint[]) as b(bucket)
     cross join lateral (
       select * from longshore.schedule d
       where d.shard = $1 and d.bucket = b.bucket and d.check_at <= (select at from clock)
       order by d.check_at limit $3
       for update skip locked
     ) d
     limit $3
   )
   select ${DUE_COLUMNS} from s`,
);

const LOCK_ONE_DUE = statement<DueSchedule>(
  'lock_due_schedule',
  `with clock as materialized (select clock_timestamp() as at),
   s as materialized (
     select * from longshore.schedule d where d.shard = $1 and d.id = $2
     limit 1 for update skip locked
   )
   select ${DUE_COLUMNS} from s where s.check_at <= (select at from clock)`,
);

export async function lockDueSchedules(
  tx: Queryable,
  shard: number,
  buckets: readonly number[],
  limit: number,
): Promise<DueSchedule[]> {
  const rows = await tx.run(LOCK_DUE, [shard, arrayText(buckets), limit]);
  return rows.map((row) => openRow(tx.vault, row));
}

export async function lockDueSchedule(
  tx: Queryable,
  shard: number,
  id: string,
): Promise<DueSchedule[]> {
  const rows = await tx.run(LOCK_ONE_DUE, [shard, id]);
  return rows.map((row) => openRow(tx.vault, row));
}

/** The state of a schedule after a check. */
export interface Advance {
  id: string;
  next: SlotKey | null;
  held: SlotKey | null;
  checkAtMs: number | null;
  /** The created jobs, the newest first. */
  jobIds: readonly string[];
  slots: number;
}

const ADVANCE = statement<{ id: string }>(
  'advance_schedules',
  `with u as materialized (
     select * from json_to_recordset($2::json) as u(id uuid, next_at timestamptz,
       next_local timestamptz, held_at timestamptz, held_local timestamptz, check_at timestamptz,
       jobs uuid[], slots int)
   )
   update longshore.schedule s
   set note = null, next_at = u.next_at, next_local = u.next_local at time zone 'UTC',
     held_at = u.held_at, held_local = u.held_local at time zone 'UTC', check_at = u.check_at,
     last_enqueued_at =
       case when cardinality(u.jobs) > 0 then ${NOW_WITHIN} else s.last_enqueued_at end,
     recent_jobs = (u.jobs || s.recent_jobs)[1:20], new_slots = s.new_slots + u.slots
   from u
   where s.shard = $1 and s.id = any (array(select id from u)) and s.id = u.id
   returning s.id`,
);

export async function advanceSchedules(
  tx: Queryable,
  shard: number,
  advances: readonly Advance[],
): Promise<void> {
  const time = (ms: number | null = null) => (ms === null ? null : new Date(ms));
  const rows = advances.map(({ id, next, held, checkAtMs, jobIds, slots }) => ({
    id,
    next_at: time(next?.atMs),
    next_local: time(next?.localMs),
    held_at: time(held?.atMs),
    held_local: time(held?.localMs),
    check_at: time(checkAtMs),
    jobs: jobIds,
    slots,
  }));
  await tx.run(ADVANCE, [shard, JSON.stringify(rows)]);
}

const SOON = piece(
  'clock_timestamp() + make_interval(secs => $4::float8 / 1000)',
  '(select clock_timestamp() + make_interval(secs => $4::float8 / 1000))',
);

const POSTPONE = statement<{ id: string }>(
  'postpone_schedule',
  `update longshore.schedule s
   set note = left($3, 500),
     check_at = case when s.enabled
       then ${SOON} end
   where s.shard = $1 and s.id = $2
   returning s.id`,
);

/** A schedule with an error gets a note and a pause, so that it does not block others. */
export async function postponeSchedule(
  db: Queryable,
  shard: number,
  id: string,
  why: string,
  delayMs: number,
): Promise<void> {
  await db.run(POSTPONE, [shard, id, why, delayMs]);
}

const NEXT_CHECK = statement<{ ms: number | null }>(
  'next_check',
  `select (extract(epoch from min(d.check_at) - clock_timestamp()) * 1000)::float8 as ms
   from unnest($2::smallint[]) as b(bucket)
   cross join lateral (
     select d.check_at from longshore.schedule d
     where d.shard = $1 and d.bucket = b.bucket and d.check_at is not null
     order by d.check_at limit 1
   ) d`,
);

/** Time until the next check of one of these buckets; null when there is none. */
export async function nextCheckMs(
  db: Queryable,
  shard: number,
  buckets: readonly number[],
): Promise<number | null> {
  const [row] = await db.run(NEXT_CHECK, [shard, arrayText(buckets)]);
  return row?.ms ?? null;
}
