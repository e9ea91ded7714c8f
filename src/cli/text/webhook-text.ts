import type { Delivery, WebhookInfo } from '../../client/index.ts';
import { lastAnswer } from './alert-text.ts';
import { columns } from './columns.ts';
import { idCell } from './id-cell.ts';
import { age } from '../../core/values/duration.ts';
import { printable } from '../../core/values/printable.ts';

export function webhookTable(webhooks: readonly WebhookInfo[], width: number): string[] {
  const rows = webhooks.map((webhook) => {
    const { id, status, events, url, failures, notice, lastError } = webhook;
    const failing = status === 'active' && failures > 0;
    const why = notice ?? (failing ? lastError : null);
    return [
      idCell(id, width),
      failing ? `failing, ${failures} in a row` : status,
      events.join(','),
      printable(url),
      why === null ? '-' : printable(why),
    ];
  });
  return columns([['ID', 'STATUS', 'EVENTS', 'URL', 'NOTICE'], ...rows], width);
}

export function deliveryTable(deliveries: readonly Delivery[], now: Date, width: number): string[] {
  const rows = deliveries.map(({ id, event, jobId, status, attempts, createdAt }) => [
    id,
    status,
    event,
    age(now.getTime() - Date.parse(createdAt)),
    String(attempts.length),
    lastAnswer(attempts),
    jobId === null ? '-' : idCell(jobId, width),
  ]);
  return columns([['ID', 'STATUS', 'EVENT', 'AGE', 'ATTEMPTS', 'RESPONSE', 'JOB'], ...rows], width);
}
