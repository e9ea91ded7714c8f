/**
 * What a job of a run is told to do, in its params. `n` makes the params unlike those of any other
 * request, so that a stored job can be traced to the one that asked for it.
 */
export interface Script {
  n: string;
  does: AuditEntry;
  /** It misbehaves in its first attempts, so many of them. */
  times?: number;
  holdMs?: number;
  /** Takes so long when it is run again: a late word about the first run finds it at work. */
  againMs?: number;
  delayMs?: number;
  pad?: string;
}

export const AUDIT_ENTRIES = [
  'ok',
  'cold', // Like ok, in a process of its own.
  'narrow', // Like ok, and few of them may run at once.
  'probe', // Like ok, and sent while nobody hears a NOTIFY.
  'throw',
  'relapse', // Throws at first; if it was brought back only after a while, it takes long then.
  'retry-after',
  'give-up', // Throws what cannot be retried.
  'slow', // Works for a while, says so all the time, and stops when it is asked to.
  'long', // Like slow, for so long that its worker beats for it in Redis.
  'crash',
  'memory', // Runs out of memory.
  'hang', // Never yields; only its time limit ends it.
  'snooze',
  'poison', // Kills its worker.
] as const;

export type AuditEntry = (typeof AUDIT_ENTRIES)[number];
