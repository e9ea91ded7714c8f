import { plainRequest } from '../core/job/new-job.ts';
import { jitterOf } from '../core/schedule/schedule-id.ts';
import type { Entry } from '../store/enqueue/enqueue-entry.ts';
import type { Enqueuer } from './enqueuer.ts';
import type { ScheduleRow } from '../store/schedules/schedule-row.ts';

/** The job of a slot, ready to be stored. The slot's own jitter delays it. */
export async function slotEntry(
  enqueuer: Enqueuer,
  row: ScheduleRow,
  slotAt: Date,
): Promise<Entry> {
  const delayMs = jitterOf(row.id, slotAt.getTime(), row.jitter_ms);
  const request = {
    ...plainRequest(row.tenant, row.definition_key, row.params),
    definitionVersion: row.definition_version,
    paramsShape: row.params_shape,
    priority: row.priority,
    runAt: delayMs > 0 ? new Date(slotAt.getTime() + delayMs) : null,
  };
  const entry = await enqueuer.prepare(request, true);
  return { ...entry, schedule: { id: row.id, slotAt } };
}
