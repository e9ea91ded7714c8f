import { isScheduleId } from '../../core/schedule/schedule-id.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { ScheduleError } from '../../schedule/error.ts';
import { ScheduleNameTaken } from '../../store/schedules/schedules.ts';

/** A malformed id gets the same 404 as an unknown one. */
export function scheduleIdOf(text: string): string {
  return isScheduleId(text) ? text : noSuchSchedule(text);
}

export function noSuchSchedule(id: string): never {
  throw new Refusal('NOT_FOUND', `schedule ${JSON.stringify(id.slice(0, 60))} not found`);
}

/** Converts errors of a schedule to API errors with the field. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScheduleNameTaken) throw new Refusal('CONFLICT', error.message);
    if (!(error instanceof ScheduleError)) throw error;
    const { field, message: detail } = error;
    const errors = [{ pointer: `/${field}`, detail }];
    throw new Refusal('VALIDATION_FAILED', `/${field}: ${detail}`, { errors });
  }
}
