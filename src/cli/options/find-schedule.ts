import { type Longshore, NotFound, type Schedule } from '../../client/index.ts';
import { idPart } from '../../core/job/short-id.ts';
import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import { nearestName } from '../../core/values/nearest.ts';
import { findId, type NamedId } from './find-id.ts';
import { UsageError } from './usage-error.ts';
import { toCall } from '../text/next-command.ts';

/** Finds a schedule by id, name, the beginning or end of its id, or the key of its definition. */
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
    const only = await ofDefinition(client, idOrName);
    if (only) return only;
    const known = await allSchedules(client);
    const names = known.flatMap(({ name, definitionKey }) =>
      name === null ? [definitionKey] : [name, definitionKey],
    );
    const nearest = nearestName(idOrName, names);
    const advice =
      nearest === null ? `see ${toCall('schedules list')}` : `did you mean "${nearest}"?`;
    throw new NotFound(404, 'NOT_FOUND', `no schedule is named "${idOrName}": ${advice}`);
  }
  if (more.length === 0) return found;
  const choices = schedules.map(({ id, definitionKey }) => `${id} (${definitionKey})`);
  throw new UsageError(`several schedules have this name, use an id: ${choices.join(', ')}`);
}

/** The schedule of a definition that has only one. */
async function ofDefinition(client: Longshore, definitionKey: string): Promise<Schedule | null> {
  const { schedules } = await client.schedules.list({ definitionKey });
  const [found = null, ...more] = schedules;
  if (more.length === 0) return found;
  const choices = schedules.map(({ id, name }) => (name === null ? id : `${id} (${name})`));
  throw new UsageError(
    `${definitionKey} has several schedules, use an id or a name: ${choices.join(', ')}`,
  );
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
