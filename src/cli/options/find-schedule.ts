import { type Longshore, NotFound, type Schedule } from '../../client/index.ts';
import { idPart } from '../../core/job/short-id.ts';
import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import { nearestName } from '../../core/values/nearest.ts';
import { findId, type NamedId } from './find-id.ts';
import { UsageError } from './usage-error.ts';

/** Finds a schedule by id, name, or the beginning or end of its id. */
export async function findSchedule(client: Longshore, idOrName: string): Promise<Schedule> {
  if (isScheduleId(idOrName)) return await client.schedules.get(idOrName);
  const { schedules } = await client.schedules.list({ name: idOrName });
  const [found, ...more] = schedules;
  if (!found && idPart(idOrName) !== null) {
    const known = async () =>
      (await allSchedules(client)).map(({ id, definitionKey }): NamedId => [id, definitionKey]);
    return await client.schedules.get(await findId('schedule', idOrName, known));
  }
  if (!found) {
    const names = (await allSchedules(client)).flatMap(({ name }) => name ?? []);
    const nearest = nearestName(idOrName, names);
    const advice = nearest === null ? 'see longshore schedules list' : `did you mean "${nearest}"?`;
    throw new NotFound(404, 'NOT_FOUND', `no schedule is named "${idOrName}": ${advice}`);
  }
  if (more.length === 0) return found;
  const choices = schedules.map(({ id, definitionKey }) => `${id} (${definitionKey})`);
  throw new UsageError(`several schedules have this name, use an id: ${choices.join(', ')}`);
}

async function allSchedules(client: Longshore): Promise<Schedule[]> {
  const all: Schedule[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.schedules.list({ cursor, limit: 200 });
    all.push(...page.schedules);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}
