import { type Queryable, statement } from './db.ts';

/**
 * Tells schedulers that something is due sooner than they may know: a job or a schedule was made
 * with a time nearer than their next look, a bulk action was begun, or a scheduler came or went. Like every NOTIFY it is a
 * hint and never the truth. What is due later than schedulers sleep at most needs none.
 */
export const DUE_CHANNEL = 'longshore_due';

/** No scheduler sleeps longer than this, so a hint is only of use for what is due before. */
export const SLEEP_MS_MAX = 5_000;

const KINDS = ['jobs', 'schedules', 'schedulers', 'bulk'] as const;
export type DueKind = (typeof KINDS)[number];

export interface DueHint {
  kind: DueKind;
  /** How long from now, as far as the sender's clock can tell. */
  inMs: number;
}

const NOTIFY = statement<{ pg_notify: string }>('due_hint', 'select pg_notify($1, $2)');

export async function sendDueHint(db: Queryable, hint: DueHint): Promise<void> {
  if (hint.inMs < SLEEP_MS_MAX) await db.run(NOTIFY, [DUE_CHANNEL, dueText(hint)]);
}

export function dueText({ kind, inMs }: DueHint): string {
  return `${kind}:${Math.max(0, Math.round(inMs))}`;
}

export function parseDueHint(payload: string): DueHint | null {
  const [name, ms] = payload.split(':');
  const inMs = Number(ms);
  const kind = KINDS.find((known) => known === name);
  return kind && Number.isFinite(inMs) ? { kind, inMs } : null;
}
