import { type Queryable, statement } from './db.ts';

/**
 * A hint to schedulers that something is due before their next poll: a job or schedule with a near
 * time was created, a bulk action was started, or a scheduler joined or left. Hints can be lost.
 * What is due later than `SLEEP_MS_MAX` needs none.
 */
export const DUE_CHANNEL = 'longshore_due';

/** The longest sleep of a scheduler. */
export const SLEEP_MS_MAX = 5_000;

const KINDS = ['jobs', 'schedules', 'schedulers', 'bulk'] as const;
export type DueKind = (typeof KINDS)[number];

export interface DueHint {
  kind: DueKind;
  /** Time from now, by the sender's clock. */
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
