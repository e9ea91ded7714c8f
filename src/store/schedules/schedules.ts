import type { ScheduleSpec, ScheduleView } from '../../core/schedule/schedule.ts';
import { bucketOf, isScheduleId, shardOfScheduleId } from '../../core/schedule/schedule-id.ts';
import { homeShard } from '../../core/queue/shard.ts';
import { firstSlot } from '../../schedule/first-slot.ts';
import { type Actor, audited } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import type { JobIds } from '../connection/job-ids.ts';
import { SCHEDULE_COLUMNS, type ScheduleRow } from './schedule-row.ts';
import { SLOT_COLUMNS, type SlotRow, viewOf } from './schedule-row.ts';

export class ScheduleNameTaken extends Error {
  override name = 'ScheduleNameTaken';

  constructor(name: string, definitionKey: string) {
    super(`${definitionKey} has a schedule named "${name}" already: change that one, or rename it`);
  }
}

const NOW = statement<{ now: Date }>('clock', 'select clock_timestamp() as now');

/** The clock that decides what is due. */
export async function databaseNow(db: Queryable): Promise<Date> {
  const [row] = await db.run(NOW);
  if (!row) throw new Error('the database returned no time');
  return row.now;
}

const INSERT = statement<{ id: string }>(
  'insert_schedule',
  `insert into longshore.schedule (shard, id, bucket, tenant, name, source, definition_key,
     definition_version, params, params_shape, priority, enabled, cron, timezone, start_at, end_at, jitter_ms,
     dst_gap, dst_repeat, catch_up, catch_up_window_ms, catch_up_max, overlap, created_at,
     updated_at, next_at, next_local, check_at, paused_at, paused_by)
   select $1, i.id, i.bucket, i.tenant, i.name, i.source, i.definition_key, i.definition_version,
     i.params::json, i.params_shape, i.priority, i.enabled, i.cron, i.timezone, i.start_at, i.end_at, i.jitter_ms,
     i.dst_gap, i.dst_repeat, i.catch_up, i.catch_up_window_ms, i.catch_up_max, i.overlap, c.at,
     c.at, i.next_at, i.next_local at time zone 'UTC', i.next_at,
     case when not i.enabled then c.at end, i.paused_by
   from json_to_record($2::json) as i(id uuid, bucket smallint, tenant text, name text,
     source text, definition_key text, definition_version int, params text, params_shape int, priority int,
     enabled boolean, cron text, timezone text, start_at timestamptz, end_at timestamptz,
     jitter_ms int, dst_gap text, dst_repeat text, catch_up text, catch_up_window_ms bigint,
     catch_up_max int, overlap text, next_at timestamptz, next_local timestamptz,
     paused_by text),
     (select clock_timestamp() as at) c
   on conflict (shard, tenant, definition_key, name) where name is not null do nothing
   returning id`,
);

export interface NewSchedule {
  tenant: string;
  source: 'api' | 'code';
  spec: ScheduleSpec;
}

/** Throws a `ScheduleError` when it can never run, and `ScheduleNameTaken`. */
export async function createSchedule(
  db: Db,
  ids: JobIds,
  { tenant, source, spec }: NewSchedule,
  by: Actor | null = null,
): Promise<string> {
  const first = firstSlot(spec, (await databaseNow(db)).getTime());
  const shard = homeShard(tenant, spec.definitionKey, db.shards);
  const id = ids.next(shard);
  const row = {
    ...columnsOf(spec),
    params: db.vault.seal(tenant, spec.paramsJson),
    id,
    bucket: bucketOf(id),
    tenant,
    source,
    paused_by: spec.enabled ? null : (by?.name ?? null),
    next_at: spec.enabled ? new Date(first.atMs) : null,
    next_local: spec.enabled ? new Date(first.localMs) : null,
  };
  const insert = async (tx: Queryable) => await tx.run(INSERT, [shard, JSON.stringify(row)]);
  const { name, definitionKey, cron, timezone, enabled } = spec;
  const after = { name, definitionKey, cron, timezone, enabled };
  const entry = { tenant, action: 'schedule.create', subject: id, after };
  const [made] = await audited(db, by, insert, (rows) => (rows.length > 0 ? entry : null));
  if (!made) throw new ScheduleNameTaken(spec.name ?? '', spec.definitionKey);
  return id;
}

/** A schedule request, by column names. */
export function columnsOf(spec: ScheduleSpec) {
  return {
    name: spec.name,
    definition_key: spec.definitionKey,
    definition_version: spec.definitionVersion,
    params: spec.paramsJson,
    params_shape: spec.paramsShape,
    priority: spec.priority,
    enabled: spec.enabled,
    cron: spec.cron,
    timezone: spec.timezone,
    start_at: spec.startAt,
    end_at: spec.endAt,
    jitter_ms: spec.jitterMs,
    dst_gap: spec.dstGap,
    dst_repeat: spec.dstRepeat,
    catch_up: spec.catchUp,
    catch_up_window_ms: spec.catchUpWindowMs,
    catch_up_max: spec.catchUpMax,
    overlap: spec.overlap,
  };
}

/** The newest slot of each schedule, one lookup each. */
const LAST_SLOT = `left join lateral (
     select ${SLOT_COLUMNS} from (
       select * from longshore.slot where shard = $1 and schedule_id = s.id
       order by slot_at desc, local desc limit 1
     ) t
   ) t on true`;

const GET = statement<ScheduleRow & Partial<SlotRow>>(
  'get_schedule',
  `select ${SCHEDULE_COLUMNS}, t.* from longshore.schedule s ${LAST_SLOT}
   where s.shard = $1 and s.id = $2 and s.tenant = $3`,
);

export async function getSchedule(
  db: Queryable,
  tenant: string,
  id: string,
): Promise<ScheduleView | null> {
  if (!isScheduleId(id)) return null;
  const [row] = await db.run(GET, [shardOfScheduleId(id), id, tenant]);
  return row ? viewOf(row, db.vault) : null;
}

const CODE_SCHEDULES = statement<{ id: string; name: string | null }>(
  'code_schedules',
  `select s.id, s.name from longshore.schedule s
   where s.shard = $1 and s.tenant = $2 and s.definition_key = $3 and s.name is not null
     and s.source = 'code'`,
);

/** The schedules that the code of a definition created. */
export async function codeSchedules(
  db: Db,
  tenant: string,
  definitionKey: string,
): Promise<{ id: string; name: string | null }[]> {
  const shard = homeShard(tenant, definitionKey, db.shards);
  return await db.run(CODE_SCHEDULES, [shard, tenant, definitionKey]);
}

export interface ScheduleFilter {
  tenant: string;
  definitionKey: string | null;
  name: string | null;
  enabled: boolean | null;
  /** Last id of the previous page. */
  afterId: string | null;
  limit: number;
}

const LIST = statement<ScheduleRow & Partial<SlotRow>>(
  'list_schedules',
  `select ${SCHEDULE_COLUMNS}, t.* from (
     select * from longshore.schedule
     where shard = $1 and tenant = $2 and id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       and ($4::text is null or definition_key = $4) and ($5::text is null or name = $5)
       and ($6::boolean is null or enabled = $6)
     order by id desc limit $7
   ) s ${LAST_SLOT}
   order by s.id desc`,
);

/** The newest first, from all shards. */
export async function listSchedules(
  db: Db,
  filter: ScheduleFilter,
): Promise<{ schedules: ScheduleView[]; nextId: string | null }> {
  const { tenant, afterId, definitionKey, name, enabled, limit } = filter;
  const found: ScheduleView[] = [];
  for (let shard = 0; shard < db.shards; shard += 1) {
    const values = [shard, tenant, afterId, definitionKey, name, enabled, limit + 1];
    const rows = await db.run(LIST, values);
    found.push(...rows.map((row) => viewOf(row, db.vault)));
  }
  found.sort((a, b) => (a.id < b.id ? 1 : -1));
  const schedules = found.slice(0, limit);
  return { schedules, nextId: found.length > limit ? (schedules.at(-1)?.id ?? null) : null };
}
