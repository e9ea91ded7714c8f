import { type Longshore, NotFound, type Schedule } from '../../client/index.ts';
import { idPart } from '../../core/job/short-id.ts';
import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import { findId, type NamedId } from './find-id.ts';
import { UsageError } from './usage-error.ts';

/** Finds a schedule by id, name, the beginning or end of its id, or the key of its definition. */
export async function findSchedule(client: Longshore, idOrName: string): Promise<Schedule> {
  if (isScheduleId(idOrName)) return await client.schedules.get(idOrName);
  const { schedules } = await client.schedules.list({ name: idOrName });
  const [found, ...more] = schedules;
  if (!found && idPart(idOrName) !== null) {
    const id = await findId('schedule', idOrName, async () => await allSchedules(client));
    return await client.schedules.get(id);
  }
  if (!found) {
    const only = await ofDefinition(client, idOrName);
    if (only) return only;
    const words = `no schedule is named "${idOrName}": see longshore schedules list`;
    throw new NotFound(404, 'NOT_FOUND', words);
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

async function allSchedules(client: Longshore): Promise<NamedId[]> {
  const all: NamedId[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.schedules.list({ cursor, limit: 200 });
    all.push(...page.schedules.map(({ id, definitionKey }): NamedId => [id, definitionKey]));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}
