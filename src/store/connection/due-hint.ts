import { QUIET_MS_MAX } from '../../core/shards/quiet.ts';
import { type Queryable, statement } from './db.ts';

/**
 * A hint to schedulers that something is due before their next poll: a job or schedule with a near
 * time was created, a bulk action was started, or a scheduler joined or left. Hints can be lost.
 * What is due later than the longest sleep of a scheduler needs none.
 */
export const DUE_CHANNEL = 'longshore_due';

/** The longest sleep of a scheduler, except in quiet shards. */
export const SLEEP_MS_MAX = 5_000;

/** What is due within this time is announced. `longshore.notify_job` knows both numbers, too. */
export function announcedMs(shards: number): number {
  return shards === 1 ? SLEEP_MS_MAX : QUIET_MS_MAX;
}

const KINDS = ['jobs', 'schedules', 'schedulers', 'bulk'] as const;
export type DueKind = (typeof KINDS)[number];

export interface DueHint {
  kind: DueKind;
  /** Time from now, by the sender's clock. */
  inMs: number;
  /** Where; undefined when it is unknown. */
  shard?: number | undefined;
}

const NOTIFY = statement<{ pg_notify: string }>('due_hint', 'select pg_notify($1, $2)');

export async function sendDueHint(
  db: Queryable & { shards?: number },
  hint: DueHint,
): Promise<void> {
  if (hint.inMs < announcedMs(db.shards ?? 1)) await db.run(NOTIFY, [DUE_CHANNEL, dueText(hint)]);
}

export function dueText({ kind, inMs, shard }: DueHint): string {
  const text = `${kind}:${Math.max(0, Math.round(inMs))}`;
  return shard === undefined ? text : `${text}:${shard}`;
}

export function parseDueHint(payload: string): DueHint | null {
  const [name, ms, of] = payload.split(':');
  const inMs = Number(ms);
  const shard = of === undefined ? undefined : Number(of);
  const kind = KINDS.find((known) => known === name);
  return kind && Number.isFinite(inMs) && !Number.isNaN(shard) ? { kind, inMs, shard } : null;
}
