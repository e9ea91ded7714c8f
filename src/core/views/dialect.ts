import { FAILURE_CODES } from '../failure/failure.ts';
import { isTerminal, type JobState } from '../job/job.ts';

/**
 * The words of the documents that Longshore grew out of (`docs/seeds.md`), for callers who were
 * written against them. They know fewer states than we do.
 */
type Phase = 'pending' | 'running' | 'succeeded' | 'failed';

/** Seed 001. */
export const SHOUTED = {
  pending: 'PENDING',
  running: 'RUNNING',
  succeeded: 'COMPLETED',
  failed: 'FAILED',
} as const satisfies Record<Phase, string>;

/** Seed 004. */
export const DEAD_LETTERED = {
  pending: 'pending',
  running: 'running',
  succeeded: 'success',
  failed: 'dead_letter',
} as const satisfies Record<Phase, string>;

export function statusIn<Word extends string>(words: Record<Phase, Word>, state: JobState): Word {
  if (state === 'running' || state === 'cancelling') return words.running;
  if (!isTerminal(state)) return words.pending;
  return state === 'succeeded' ? words.succeeded : words.failed;
}

export const PRIORITY_WORDS = { low: -10, normal: 0, high: 10 } as const;
export type PriorityWord = keyof typeof PRIORITY_WORDS;

/** A job of another door may have any number: what matters is on which side of the usual it is. */
export function priorityWord(priority: number): PriorityWord {
  if (priority === 0) return 'normal';
  return priority > 0 ? 'high' : 'low';
}

/** Seed 004 does not try again what the code of a job threw by itself. */
export const RETRY_ON_WITHOUT_THROWS: readonly string[] = Object.entries(FAILURE_CODES).flatMap(
  ([code, { retryable }]) => (retryable && code !== 'HANDLER_ERROR' ? [code] : []),
);

export function codeInSeed004(code: string): string {
  return code === 'LEASE_EXPIRED' ? 'JOB_LOCK_TIMEOUT_RECLAIMED' : code;
}
