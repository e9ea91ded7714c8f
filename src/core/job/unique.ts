import { isTerminal, type JobState, WAITING_STATES, type WaitingState } from './job.ts';

/**
 * A job that shall be the only one of its kind, for as long as the caller says: while an earlier one
 * waits, while it waits or runs, or for a while after it was made.
 */
export interface Unique {
  /** What makes two jobs of a definition the same; null means their params. */
  key: string | null;
  while: UniqueWhile;
  onConflict: 'existing' | 'replace';
}

export type UniqueWhile = 'queued' | 'active' | { windowMs: number };

/** The earlier job, as it is now. */
export interface UniqueHolder {
  state: JobState;
  ageMs: number;
  /** It waits and has never been claimed, so nobody has seen its params yet. */
  untouched: boolean;
}

export type UniqueVerdict = 'make' | 'existing' | 'replace';

/**
 * Nobody gives a key back: who holds it is judged when it is asked for, by where its job is then. So
 * claiming and settling pay nothing for unique jobs.
 */
export function judgeUnique(unique: Unique, holder: UniqueHolder | null): UniqueVerdict {
  if (!holder || !holds(unique.while, holder)) return 'make';
  if (unique.onConflict === 'existing') return 'existing';
  if (holder.untouched) return 'replace';
  // It has begun before it could be replaced. Who wanted the latest to run gets another one.
  return unique.while === 'queued' ? 'make' : 'existing';
}

/** Whether a job still keeps others out. */
export function holds(during: UniqueWhile, { state, ageMs }: UniqueHolder): boolean {
  if (during === 'queued') return isWaiting(state);
  return during === 'active' ? !isTerminal(state) : ageMs < during.windowMs;
}

function isWaiting(state: JobState): state is WaitingState {
  return (WAITING_STATES as readonly JobState[]).includes(state);
}
