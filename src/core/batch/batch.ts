import { isTerminal, type JobState, type TerminalState } from '../job/job.ts';

/**
 * A batch is a job of the system whose children are the jobs of a caller. It is suspended while it
 * accepts jobs, and then until the last of them has ended; then a worker ends it with their counts.
 */

/** Reserved: definition keys begin with a letter or a digit. */
export const BATCH_KEY = '$batch';

/** `waiting.waits_for` of a batch that accepts jobs. A closed one waits for its children. */
export const BATCH_OPEN = ':batch';

/**
 * `waiting.waits_for` of a cancelled batch, until the last of its jobs has ended. It begins like that of a
 * closed one: both wait for their children.
 */
export const BATCH_CANCELLED = ':children:cancelled';

/** The most jobs of one batch. */
export const BATCH_JOBS_MAX = 100_000;
export const BATCH_NAME_MAX = 200;
/** The most batches of one page: the jobs of each are counted. */
export const BATCHES_PAGE_MAX = 50;

export const BATCH_STATUSES = [
  'open',
  'running',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** The states of a job of a batch, as the batch counts them. */
export const MEMBER_STATES = ['pending', 'succeeded', 'failed', 'cancelled'] as const;
export type MemberState = (typeof MEMBER_STATES)[number];

export interface BatchCounts {
  total: number;
  pending: number;
  succeeded: number;
  failed: number;
  cancelled: number;
}

/** A batch as the API shows it. */
export interface BatchView extends BatchCounts {
  /** The id of its job. */
  id: string;
  name: string | null;
  status: BatchStatus;
  onComplete: string | null;
  onSuccess: string | null;
  createdAt: string;
  closedAt: string | null;
  endedAt: string | null;
}

/** One job of a batch. */
export interface BatchJob {
  jobId: string;
  /** Null when the job is deleted. */
  definitionKey: string | null;
  /** Its state now; of a deleted job, how it ended. */
  status: JobState | null;
  /** Its place in the batch, from 0. */
  position: number;
}

export function batchStatus(state: JobState, waitsFor: string | null): BatchStatus {
  if (isTerminal(state)) return state satisfies TerminalState;
  if (state === 'cancelling' || waitsFor === BATCH_CANCELLED) return 'cancelling';
  return waitsFor === BATCH_OPEN ? 'open' : 'running';
}

/** The result of a batch whose jobs have all succeeded, or that was cancelled. */
export function batchResult({ total, succeeded, failed, cancelled }: BatchCounts) {
  return { total, succeeded, failed, cancelled };
}

/** "3 of 100 jobs did not succeed: 2 failed, 1 cancelled"; null when all succeeded. */
export function batchProblem({ total, failed, cancelled }: BatchCounts): string | null {
  const bad = failed + cancelled;
  if (bad === 0) return null;
  const jobs = total === 1 ? 'job' : 'jobs';
  return `${bad} of ${total} ${jobs} did not succeed: ${failed} failed, ${cancelled} cancelled`;
}

/** "3 jobs: 1 pending, 2 succeeded, 0 failed, 0 cancelled", for people. */
export function countsText({ total, pending, succeeded, failed, cancelled }: BatchCounts): string {
  const jobs = total === 1 ? '1 job' : `${total} jobs`;
  return `${jobs}: ${pending} pending, ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled`;
}

/** "It accepts jobs until it is closed; 3 of its 10 jobs have not ended.", for people. */
export function openBatchSentence({ total, open }: { total: number; open: number }): string {
  if (total === 0) return 'It accepts jobs until it is closed, and has none yet.';
  const left = open === 0 ? `all of its ${total}` : `${open} of its ${total}`;
  const [jobs, have] = total === 1 ? ['job', 'has'] : ['jobs', 'have'];
  return `It accepts jobs until it is closed; ${left} ${jobs} ${have}${open === 0 ? '' : ' not'} ended.`;
}

/** Why a retry changes nothing: its jobs are pruned or deleted. */
export function noneToRetry(unsuccessful: number): string {
  const jobs =
    unsuccessful === 1 ? 'the job that did not succeed is' : 'the jobs that did not succeed are';
  return `${jobs} deleted and cannot be retried`;
}
