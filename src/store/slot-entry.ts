import { jitterOf } from '../core/schedule-id.ts';
import type { Entry } from './enqueue.ts';
import type { Inbox } from './inbox.ts';
import type { ScheduleRow } from './schedule-row.ts';

/** The job of a slot, ready to be stored. The slot's own jitter delays it. */
export async function slotEntry(inbox: Inbox, row: ScheduleRow, slotAt: Date): Promise<Entry> {
  const delayMs = jitterOf(row.id, slotAt.getTime(), row.jitter_ms);
  const entry = await inbox.prepare({
    tenant: row.tenant,
    definitionKey: row.definition_key,
    definitionVersion: row.definition_version,
    paramsJson: row.params,
    priority: row.priority,
    maxAttempts: null,
    hold: false,
    runAt: delayMs > 0 ? new Date(slotAt.getTime() + delayMs) : null,
    delayMs: null,
    idempotencyKey: null,
    concurrencyKey: null,
    tags: null,
    policy: null,
  });
  return { ...entry, schedule: { id: row.id, slotAt } };
}
