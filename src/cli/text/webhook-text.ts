import type { Delivery, WebhookInfo } from '../../client/index.ts';
import { columns } from './columns.ts';
import { age } from '../../core/values/duration.ts';
import { printable } from './printable.ts';

export function webhookTable(webhooks: readonly WebhookInfo[], width: number): string[] {
  const rows = webhooks.map(({ id, status, events, url, notice }) => [
    id,
    status,
    events.join(','),
    printable(url),
    notice === null ? '-' : printable(notice),
  ]);
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
    jobId ?? '-',
  ]);
  return columns([['ID', 'STATUS', 'EVENT', 'AGE', 'ATTEMPTS', 'RESPONSE', 'JOB'], ...rows], width);
}

function lastAnswer(attempts: Delivery['attempts']): string {
  const last = attempts.at(-1);
  if (!last) return '-';
  return last.status === null ? printable(last.error ?? 'no response') : String(last.status);
}
