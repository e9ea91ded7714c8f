import { FIRST_SHAPE } from '../core/shape/upgrade.ts';
import type { DeclaredSchedule } from '../core/definition/declared-schedule.ts';
import type { DefinitionInfo } from '../core/definition/definition.ts';
import {
  REMOVED_FROM_CODE,
  REMOVED_WHILE_PAUSED,
  type ScheduleSpec,
} from '../core/schedule/schedule.ts';
import { DEFAULT_TENANT } from '../core/access/scope.ts';
import type { Log } from '../runtime/log.ts';
import { ScheduleError } from '../schedule/error.ts';
import { type Change, changeSchedule, sameTiming } from '../store/schedules/change-schedule.ts';
import type { Db } from '../store/connection/db.ts';
import { sendDueHint } from '../store/connection/due-hint.ts';
import type { JobIds } from '../store/connection/job-ids.ts';
import { specOf } from '../store/schedules/schedule-row.ts';
import { listReleases } from '../store/deployments/releases.ts';
import { codeSchedules, createSchedule, ScheduleNameTaken } from '../store/schedules/schedules.ts';

/**
 * Syncs the schedules in the database with those in the code that a worker has loaded. They are
 * identified by definition and name, so any number of workers may do so at once. The code wins,
 * except that a pause by hand stays. Of several versions of a definition the highest counts. A
 * schedule that is no longer in the code is paused with a note, not deleted.
 */
export interface SyncDeps {
  db: Db;
  ids: JobIds;
  log: Log;
  /** Called for an invalid schedule. */
  onProblem?: ((problem: string) => void) | undefined;
}

/** Where definitions come from. */
interface Origin {
  tenant: string;
  /** Of a release: its jobs get whatever version is current when they are due. */
  released: boolean;
}

/** Of definitions that a worker has loaded. Those with a release follow the release. */
export async function syncSchedules(
  deps: SyncDeps,
  definitions: readonly DefinitionInfo[],
): Promise<void> {
  const released = await listReleases(deps.db);
  const isReleased = (key: string) =>
    released.some((one) => one.key === key && one.tenant === DEFAULT_TENANT);
  const newest = new Map<string, DefinitionInfo>();
  for (const info of definitions.filter(({ key }) => !isReleased(key))) {
    if ((newest.get(info.key)?.version ?? 0) < info.version) newest.set(info.key, info);
  }
  const origin = { tenant: DEFAULT_TENANT, released: false };
  for (const info of newest.values()) await syncDefinition(deps, origin, info);
}

/** Of definitions that were released. */
export async function syncReleasedSchedules(
  deps: SyncDeps,
  tenant: string,
  definitions: readonly DefinitionInfo[],
): Promise<void> {
  for (const info of definitions) await syncDefinition(deps, { tenant, released: true }, info);
}

async function syncDefinition(deps: SyncDeps, origin: Origin, info: DefinitionInfo): Promise<void> {
  const { db } = deps;
  const { tenant } = origin;
  const known = await codeSchedules(db, tenant, info.key);
  for (const declared of info.schedules) {
    const found = known.find(({ name }) => name === declared.name);
    await syncOne(deps, origin, info, declared, found?.id ?? null);
  }
  const wanted = new Set(info.schedules.map(({ name }) => name));
  for (const { id, name } of known) {
    if (name !== null && wanted.has(name)) continue;
    await changeSchedule(db, tenant, id, unlessNewer(origin, info.version, remove));
  }
  if (info.schedules.length > 0) await sendDueHint(db, { kind: 'schedules', inMs: 0 });
}

/** An invalid schedule is logged and left out; it stops neither the others nor the worker. */
async function syncOne(
  { db, ids, log, onProblem }: SyncDeps,
  origin: Origin,
  info: DefinitionInfo,
  declared: DeclaredSchedule,
  id: string | null,
): Promise<void> {
  const { tenant } = origin;
  const spec = specFrom(origin, info, declared);
  try {
    const change = unlessNewer(origin, info.version, inLineWith(spec));
    if (id !== null) await changeSchedule(db, tenant, id, change);
    else await createSchedule(db, ids, { tenant, source: 'code', spec });
  } catch (error) {
    // Another worker created it at the same moment. If it was created by hand, the code gives way.
    const raced =
      error instanceof ScheduleNameTaken &&
      (await codeSchedules(db, tenant, info.key)).some(({ name }) => name === spec.name);
    if (raced) return;
    if (!(error instanceof ScheduleError) && !(error instanceof ScheduleNameTaken)) throw error;
    const field = error instanceof ScheduleError ? `${error.field} ` : '';
    const problem = `${info.key}, schedule "${declared.name}": ${field}${error.message}`;
    log.warn({ problem }, 'skipped an invalid schedule in the code');
    onProblem?.(problem);
  }
}

/** While workers are replaced, one with the old version must not undo the new one. */
function unlessNewer({ released }: Origin, version: number, change: Change): Change {
  if (released) return change;
  return (row) => ((row.definition_version ?? 0) > version ? null : change(row));
}

function inLineWith(spec: ScheduleSpec): Change {
  return (row) => {
    const before = specOf(row);
    const enabled = row.note === REMOVED_FROM_CODE || before.enabled;
    const gone = row.note === REMOVED_FROM_CODE || row.note === REMOVED_WHILE_PAUSED;
    const wanted = { ...spec, enabled };
    return same(wanted, before) && !gone ? null : { spec: wanted, note: null };
  };
}

const remove: Change = (row) => {
  if (row.note === REMOVED_FROM_CODE || row.note === REMOVED_WHILE_PAUSED) return null;
  const note = row.enabled ? REMOVED_FROM_CODE : REMOVED_WHILE_PAUSED;
  return { spec: { ...specOf(row), enabled: false }, note };
};

function same(one: ScheduleSpec, other: ScheduleSpec): boolean {
  const { startAt: _a, endAt: _b, ...rest } = one;
  const fields = Object.keys(rest) as (keyof typeof rest)[];
  return sameTiming(one, other) && fields.every((field) => one[field] === other[field]);
}

function specFrom(
  { released }: Origin,
  info: DefinitionInfo,
  declared: DeclaredSchedule,
): ScheduleSpec {
  const { startAt, endAt } = declared;
  return {
    ...declared,
    definitionKey: info.key,
    definitionVersion: released ? null : info.version,
    paramsShape: info.paramsShape ?? FIRST_SHAPE,
    enabled: true,
    startAt: startAt === null ? null : new Date(startAt),
    endAt: endAt === null ? null : new Date(endAt),
  };
}
