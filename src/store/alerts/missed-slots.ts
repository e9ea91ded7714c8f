import { SCHEDULE_LATE_SECONDS } from '../../core/alert/alert.ts';
import { BUCKETS } from '../../core/schedule/schedule-id.ts';
import { FOUND_MAX } from './alert-probes.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';

export interface MissedSlots {
  tenant: string;
  definitionKey: string;
  scheduleId: string;
  /** Null if the schedule has none. */
  name: string | null;
  cron: string;
  ageSeconds: number;
}

const LATE = statement<MissedSlots>(
  'find_late_schedules',
  `with clock as materialized (select clock_timestamp() as at)
   select s.tenant, s.definition_key as "definitionKey", s.id as "scheduleId", s.name, s.cron,
     0::float8 as "ageSeconds"
   from unnest($2::smallint[]) as b(bucket)
   cross join lateral (
     select s.id, s.tenant, s.definition_key, s.name, s.cron from longshore.schedule s
     where s.shard = $1 and s.bucket = b.bucket
       and s.check_at < (select at from clock) - interval '${SCHEDULE_LATE_SECONDS} s'
     order by s.check_at limit $3
   ) s
   limit $3`,
);

const MISSED = statement<MissedSlots>(
  'find_missed_slots',
  `with clock as materialized (select clock_timestamp() as at)
   select s.tenant, s.definition_key as "definitionKey", t.schedule_id as "scheduleId", s.name, s.cron,
     extract(epoch from clock_timestamp() - t.slot_at)::float8 as "ageSeconds"
   from (
     select t.schedule_id, t.slot_at from longshore.slot t
     where t.shard = $1 and t.status = 'skipped'
       and t.reason in ('missed', 'catch_up_window', 'catch_up_max')
       and t.slot_at > (select at from clock) - make_interval(secs => $2::float8)
     order by t.slot_at desc limit $3
   ) t
   cross join lateral (
     select s.tenant, s.definition_key, s.name, s.cron from longshore.schedule s
     where s.shard = $1 and s.id = t.schedule_id limit 1
   ) s`,
);

const ALL_BUCKETS = arrayText(Array.from({ length: BUCKETS }, (_, bucket) => bucket));

/** Slots that were missed within the window and not caught up, and overdue schedules. */
export async function findMissedSlots(
  db: Queryable,
  shard: number,
  seconds: number,
): Promise<MissedSlots[]> {
  return [
    ...(await db.run(LATE, [shard, ALL_BUCKETS, FOUND_MAX])),
    ...(await db.run(MISSED, [shard, seconds, FOUND_MAX])),
  ];
}
