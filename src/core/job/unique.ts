import { isTerminal, type JobState, WAITING_STATES, type WaitingState } from './job.ts';

/**
 * A unique job: no other job with its key is made while an earlier one waits, while it waits or
 * runs, or for a time window after it was made.
 */
export interface Unique {
  /** The unique key within the definition; null means the params. */
  key: string | null;
  while: UniqueWhile;
  onConflict: 'existing' | 'replace';
  /** A job that is replaced again and again becomes due at the latest so long after it was made. */
  maxWaitMs?: number | undefined;
}

export type UniqueWhile = 'queued' | 'active' | { windowMs: number };

/** The key as it is stored. The prefix keeps a key of the caller and one made from params apart. */
export function storedKey(key: string | null, paramsSha: string): string {
  return key === null ? `params:${paramsSha}` : `key:${key}`;
}

/** The earlier job in its current state. */
export interface UniqueHolder {
  state: JobState;
  ageMs: number;
  /** It waits and was never claimed, so its params were never used. */
  untouched: boolean;
}

export type UniqueVerdict = 'make' | 'existing' | 'replace';

/**
 * Keys are not released. Whether a job still holds its key is decided at the next enqueue, by its
 * state then. So claiming and settling have no cost for unique jobs.
 */
export function judgeUnique(unique: Unique, holder: UniqueHolder | null): UniqueVerdict {
  if (!holder || !holds(unique.while, holder)) return 'make';
  if (unique.onConflict === 'existing') return 'existing';
  if (holder.untouched) return 'replace';
  // It started before it could be replaced. A caller that wants the latest params to run gets a new
  // job.
  return unique.while === 'queued' ? 'make' : 'existing';
}

/** The delay of a job that replaces another one, which was made so long ago. */
export function replacingDelayMs(
  { maxWaitMs }: Pick<Unique, 'maxWaitMs'>,
  delayMs: number,
  ageMs: number,
): number {
  return maxWaitMs === undefined ? delayMs : Math.min(delayMs, Math.max(0, maxWaitMs - ageMs));
}

/** Whether the job still holds its key. */
export function holds(during: UniqueWhile, { state, ageMs }: UniqueHolder): boolean {
  // A suspended job has begun, and may wait for months.
  if (during === 'queued') return isWaiting(state) && state !== 'suspended';
  return during === 'active' ? !isTerminal(state) : ageMs < during.windowMs;
}

function isWaiting(state: JobState): state is WaitingState {
  return (WAITING_STATES as readonly JobState[]).includes(state);
}
