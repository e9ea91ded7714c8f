import { type Longshore, NotFound, type Schedule } from '../../client/index.ts';
import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import { UsageError } from './usage-error.ts';

/** People know schedules by their names; ids are for programs. Both are understood. */
export async function findSchedule(client: Longshore, idOrName: string): Promise<Schedule> {
  if (isScheduleId(idOrName)) return await client.schedules.get(idOrName);
  const { schedules } = await client.schedules.list({ name: idOrName });
  const [found, ...more] = schedules;
  if (!found) {
    const words = `there is no schedule named "${idOrName}": see longshore schedules list`;
    throw new NotFound(404, 'NOT_FOUND', words);
  }
  if (more.length === 0) return found;
  const choices = schedules.map(({ id, definitionKey }) => `${id} (${definitionKey})`);
  throw new UsageError(`several have this name, say which by its id: ${choices.join(', ')}`);
}
