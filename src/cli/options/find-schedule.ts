import { type Longshore, NotFound, type Schedule } from '../../client/index.ts';
import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import { UsageError } from './usage-error.ts';

/** Finds a schedule by id or name. */
export async function findSchedule(client: Longshore, idOrName: string): Promise<Schedule> {
  if (isScheduleId(idOrName)) return await client.schedules.get(idOrName);
  const { schedules } = await client.schedules.list({ name: idOrName });
  const [found, ...more] = schedules;
  if (!found) {
    const words = `no schedule is named "${idOrName}": see longshore schedules list`;
    throw new NotFound(404, 'NOT_FOUND', words);
  }
  if (more.length === 0) return found;
  const choices = schedules.map(({ id, definitionKey }) => `${id} (${definitionKey})`);
  throw new UsageError(`several schedules have this name, use an id: ${choices.join(', ')}`);
}
