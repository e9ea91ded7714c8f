import { SLEEP, type Suspension, waitOf } from '../dependency/waits-for.ts';
import type { JobError, OwnedState, RetryPolicy } from './job.ts';
import { DEFAULT_RETRY, retryDelayMs } from '../failure/backoff.ts';
import { DEFAULT_MAX_INTERRUPTIONS } from '../definition/definition.ts';
import { failureOf, isRetryable, neverRan } from '../failure/failure.ts';

/** How an attempt ended. Error, timeout, crash and out-of-memory are a `failure` with a code. */
export type Outcome =
  | { kind: 'success'; resultJson: string }
  | { kind: 'failure'; error: JobError; retryAfterMs: number | null }
  | { kind: 'lost'; message: string }
  | { kind: 'interrupted'; message: string }
  | { kind: 'unstarted' }
  /** By `ctx.snooze`, or by `ctx.sleep`. */
  | { kind: 'snoozed'; delayMs: number; sleep?: true | undefined }
  | Suspension;

/** What the decision needs of a job: its budget and its rules. */
export interface RunningJob {
  state: OwnedState;
  attempts: number;
  maxAttempts: number;
  interruptions: number;
  maxInterruptions: number;
  retry: RetryPolicy;
  retryOn: readonly string[] | null;
}

/** The rules when the definition is not loaded, as in the reaper: it needs only the budget. */
export const DEFAULT_RULES = {
  maxInterruptions: DEFAULT_MAX_INTERRUPTIONS,
  retry: DEFAULT_RETRY,
  retryOn: null,
} as const;

/** The next state as a value. Only `store/claim/settle` writes it, fenced. */
export interface Transition {
  to: 'succeeded' | 'failed' | 'cancelled' | 'retrying' | 'scheduled' | 'suspended' | 'queued';
  /** How long the job waits, by the database's clock, from the moment of the write; null: until others end. */
  delayMs: number | null;
  /** The claim charges the attempt. An interruption, a snooze, a wait for a signal, a job that
   * never started, and invalid or unreadable params refund it. */
  attemptRefunded: boolean;
  interrupted: boolean;
  /** False when the job was claimed but never started. */
  attempted: boolean;
  /** The signal that a suspended job waits for, or `CHILDREN`; of a scheduled one, `SLEEP`. */
  waitsFor: string | null;
  error: JobError | null;
  resultJson: string | null;
}

/**
 * The only place with the retry rules. The worker calls it for outcomes it observed, the reaper for
 * claims whose worker is gone; both write the result. `random` is in [0, 1).
 */
export function decide(job: RunningJob, outcome: Outcome, random: number): Transition {
  if (outcome.kind === 'success') return moveTo('succeeded', { resultJson: outcome.resultJson });
  // A cancelled job ended on request, whatever its outcome: that is not an error.
  if (job.state === 'cancelling') {
    const began = outcome.kind !== 'unstarted';
    return moveTo('cancelled', { attempted: began, attemptRefunded: !began });
  }
  switch (outcome.kind) {
    case 'snoozed':
      return moveTo('scheduled', {
        delayMs: outcome.delayMs,
        attemptRefunded: true,
        waitsFor: outcome.sleep ? SLEEP : null,
      });
    case 'suspended':
      return moveTo('suspended', { ...waitOf(outcome), attemptRefunded: true });
    case 'interrupted':
      return interrupted(job, outcome.message);
    case 'unstarted':
      return moveTo('queued', { attemptRefunded: true, attempted: false });
    case 'lost':
      return lost(job, outcome.message);
    case 'failure':
      return failed(job, outcome, random);
  }
}

/** A deploy costs no attempt, but the number of interruptions is limited. */
function interrupted(job: RunningJob, message: string): Transition {
  const error = failureOf('INTERRUPTED', message);
  if (job.interruptions >= job.maxInterruptions) return moveTo('failed', { error });
  return moveTo('queued', { error, interrupted: true, attemptRefunded: true });
}

/** The attempt stays charged, so a job that always kills its worker ends. No backoff. */
function lost(job: RunningJob, message: string): Transition {
  const error = failureOf('LEASE_EXPIRED', message);
  return moveTo(job.attempts < job.maxAttempts ? 'queued' : 'failed', { error });
}

function failed(
  job: RunningJob,
  { error, retryAfterMs }: { error: JobError; retryAfterMs: number | null },
  random: number,
): Transition {
  if (neverRan(error.code)) {
    return moveTo('failed', { error, attemptRefunded: true });
  }
  if (!isRetryable(error.code, job.retryOn) || job.attempts >= job.maxAttempts) {
    return moveTo('failed', { error });
  }
  const delayMs = retryDelayMs(job.retry, job.attempts, retryAfterMs, random);
  return moveTo('retrying', { error, delayMs });
}

function moveTo(to: Transition['to'], what: Partial<Transition>): Transition {
  return {
    to,
    delayMs: 0,
    attemptRefunded: false,
    interrupted: false,
    attempted: true,
    waitsFor: null,
    error: null,
    resultJson: null,
    ...what,
  };
}
