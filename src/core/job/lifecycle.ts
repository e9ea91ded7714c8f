import type { JobError, JobState, OwnedState, RetryPolicy } from './job.ts';
import { DEFAULT_RETRY, retryDelayMs } from '../failure/backoff.ts';
import { DEFAULT_MAX_INTERRUPTIONS } from '../definition/definition.ts';
import { failureOf, isRetryable } from '../failure/failure.ts';

/**
 * Every legal transition of a job, as data. The pure code, PostgreSQL (through test-only triggers)
 * and the diagram in the docs are checked against this table. Any other transition is refused.
 */
export const TRANSITIONS: readonly { from: JobState; to: JobState; why: string; who: string }[] = [
  { from: 'created', to: 'scheduled', why: 'released', who: 'api' },
  { from: 'created', to: 'queued', why: 'released', who: 'api' },
  { from: 'scheduled', to: 'queued', why: 'its time has come', who: 'promoter' },
  { from: 'retrying', to: 'queued', why: 'its backoff is over', who: 'promoter' },
  { from: 'queued', to: 'running', why: 'claimed', who: 'worker' },
  { from: 'running', to: 'succeeded', why: 'run returned', who: 'claim' },
  { from: 'running', to: 'retrying', why: 'retryable failure', who: 'claim, reaper' },
  { from: 'running', to: 'queued', why: 'lease lost, or interrupted', who: 'claim, reaper' },
  { from: 'running', to: 'failed', why: 'it cannot be retried', who: 'claim, reaper' },
  { from: 'running', to: 'scheduled', why: 'snoozed by the job itself', who: 'claim' },
  { from: 'running', to: 'cancelling', why: 'cancel requested', who: 'api' },
  { from: 'cancelling', to: 'cancelled', why: 'it stopped', who: 'claim, reaper' },
  { from: 'cancelling', to: 'succeeded', why: 'it finished first', who: 'claim' },
  { from: 'created', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  { from: 'scheduled', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  { from: 'queued', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  { from: 'retrying', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  { from: 'created', to: 'failed', why: 'expired', who: 'promoter' },
  { from: 'scheduled', to: 'failed', why: 'expired', who: 'promoter' },
  { from: 'queued', to: 'failed', why: 'no handler, or expired', who: 'promoter, worker' },
  { from: 'retrying', to: 'failed', why: 'expired, or attempt limit lowered', who: 'promoter' },
  { from: 'failed', to: 'queued', why: 'retried by hand', who: 'api' },
  { from: 'failed', to: 'scheduled', why: 'retried by hand, later', who: 'api' },
  { from: 'cancelled', to: 'queued', why: 'retried by hand', who: 'api' },
  { from: 'cancelled', to: 'scheduled', why: 'retried by hand, later', who: 'api' },
];

/** The states in which a job may be created. */
export const FIRST_STATES: readonly JobState[] = ['created', 'scheduled', 'queued'];

export function isLegal(from: JobState, to: JobState): boolean {
  return TRANSITIONS.some((transition) => transition.from === from && transition.to === to);
}

/** How an attempt ended. Error, timeout, crash and out-of-memory are a `failure` with a code. */
export type Outcome =
  | { kind: 'success'; resultJson: string }
  | { kind: 'failure'; error: JobError; retryAfterMs: number | null }
  | { kind: 'lost'; message: string }
  | { kind: 'interrupted'; message: string }
  | { kind: 'unstarted' }
  | { kind: 'snoozed'; delayMs: number };

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
  to: 'succeeded' | 'failed' | 'cancelled' | 'retrying' | 'scheduled' | 'queued';
  /** How long the job waits, by the database's clock, from the moment of the write. */
  delayMs: number;
  /** The claim charges the attempt; an interruption, a snooze, and invalid or unreadable params refund it. */
  attemptGivenBack: boolean;
  interrupted: boolean;
  /** False when the job was claimed but never started: no attempt is recorded. */
  attempted: boolean;
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
    return moveTo('cancelled', { attempted: began, attemptGivenBack: !began });
  }
  switch (outcome.kind) {
    case 'snoozed':
      return moveTo('scheduled', { delayMs: outcome.delayMs, attemptGivenBack: true });
    case 'interrupted':
      return interrupted(job, outcome.message);
    case 'unstarted':
      return moveTo('queued', { attemptGivenBack: true, attempted: false });
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
  return moveTo('queued', { error, interrupted: true, attemptGivenBack: true });
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
  if (error.code === 'PAYLOAD_INVALID' || error.code === 'CANNOT_DECRYPT') {
    return moveTo('failed', { error, attemptGivenBack: true });
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
    attemptGivenBack: false,
    interrupted: false,
    attempted: true,
    error: null,
    resultJson: null,
    ...what,
  };
}
