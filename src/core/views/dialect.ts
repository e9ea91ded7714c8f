import { FAILURE_CODES } from '../failure/failure.ts';
import { isTerminal, type JobState } from '../job/job.ts';

/**
 * The states of the two documents that Longshore is based on (`docs/seeds.md`), for clients written
 * against them. They have fewer states than we do.
 */
type Phase = 'pending' | 'running' | 'succeeded' | 'failed';

/** Seed 001. */
export const SEED_001_STATUSES = {
  pending: 'PENDING',
  running: 'RUNNING',
  succeeded: 'COMPLETED',
  failed: 'FAILED',
} as const satisfies Record<Phase, string>;

/** Seed 004. */
export const SEED_004_STATUSES = {
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

/** Jobs from other sources may have any number: only above, at or below the default matters. */
export function priorityWord(priority: number): PriorityWord {
  if (priority === 0) return 'normal';
  return priority > 0 ? 'high' : 'low';
}

/** Seed 004 does not retry errors that the job's code threw. */
export const RETRY_ON_WITHOUT_THROWS: readonly string[] = Object.entries(FAILURE_CODES).flatMap(
  ([code, { retryable }]) => (retryable && code !== 'HANDLER_ERROR' ? [code] : []),
);

export function codeInSeed004(code: string): string {
  return code === 'LEASE_EXPIRED' ? 'JOB_LOCK_TIMEOUT_RECLAIMED' : code;
}
