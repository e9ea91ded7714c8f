import type { ScheduleSpec, ScheduleView, SlotView } from '../../src/core/schedule/schedule.ts';
import { BUCKETS } from '../../src/core/schedule/schedule-id.ts';
import { SCHEDULE_DEFAULTS } from '../../src/core/schedule/schedule.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { fireDue } from '../../src/scheduler/fire-due.ts';
import { JobIds } from '../../src/store/connection/job-ids.ts';
import { createSchedule, getSchedule } from '../../src/store/schedules/schedules.ts';
import { listSlots } from '../../src/store/schedules/slots.ts';
import type { TestDatabase } from './servers/database.ts';

export const ALL_BUCKETS = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
const ids = new JobIds(systemClock);

/** Half an hour from now, so that no slot becomes due during a test. */
const QUIET_MINUTE = (new Date().getUTCMinutes() + 30) % 60;
export const HOURLY = `${QUIET_MINUTE} * * * *`;
const HOUR_MS = 3_600_000;

export function spec(changes: Partial<ScheduleSpec> = {}): ScheduleSpec {
  return {
    ...SCHEDULE_DEFAULTS,
    name: null,
    definitionKey: 'hello',
    paramsJson: '{}',
    cron: HOURLY,
    ...changes,
  };
}

export async function newSchedule(
  { db }: TestDatabase,
  changes: Partial<ScheduleSpec> = {},
): Promise<string> {
  const tenant = 'default';
  return await createSchedule(db, ids, { tenant, source: 'api', spec: spec(changes) });
}

export async function readSchedule({ db }: TestDatabase, id: string): Promise<ScheduleView> {
  const found = await getSchedule(db, 'default', id);
  if (!found) throw new Error(`no schedule ${id}`);
  return found;
}

export async function slotsOf({ db }: TestDatabase, id: string): Promise<SlotView[]> {
  return (await listSlots(db, 'default', id, null, 5_000)).slots;
}

/**
 * As if no scheduler had run for this long; for a schedule in UTC that is `HOURLY` or a whole span.
 */
export async function fallBehind(
  { sql }: TestDatabase,
  id: string,
  behindMs: number,
  everyMs: number,
): Promise<Date> {
  const [row] = await sql<{ next_at: Date }>(
    `update longshore.schedule set next_at = w.at, next_local = w.at at time zone 'UTC', check_at = w.at
     from (select to_timestamp(
       ceil((extract(epoch from clock_timestamp()) - $2 / 1000.0 - $4) / ($3 / 1000.0))
       * ($3 / 1000.0) + $4) as at) w
     where id = $1 returning next_at`,
    [id, behindMs, everyMs, everyMs === HOUR_MS ? QUIET_MINUTE * 60 : 0],
  );
  if (!row) throw new Error(`no schedule ${id}`);
  return row.next_at;
}

/** Fires everything that is due, as a scheduler that owns everything. */
export async function tick({ db, enqueuer }: TestDatabase, limit = 100): Promise<number> {
  let looked = 0;
  for (let shard = 0; shard < db.shards; shard += 1) {
    looked += await fireDue({ db, enqueuer, log: silentLog }, shard, ALL_BUCKETS, limit);
  }
  return looked;
}
