import { type JobState, TERMINAL_STATES, WAITING_STATES } from './job.ts';
import { RETRYABLE_STATES, type RetryMode } from '../failure/retry.ts';

/**
 * An action on all jobs that match a filter and existed when it was requested. It runs in the
 * background, reports progress, and can be stopped.
 */
export const BULK_ACTIONS = ['cancel', 'retry', 'delete'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_STATUSES = ['running', 'finished', 'aborted'] as const;
export type BulkStatus = (typeof BULK_STATUSES)[number];

/** The states in which the action has an effect. */
export const BULK_STATES: Record<BulkAction, readonly JobState[]> = {
  cancel: [...WAITING_STATES, 'running'],
  retry: RETRYABLE_STATES,
  delete: TERMINAL_STATES,
};

/** The default states: a retry leaves cancelled jobs alone. */
export function statesMeant(action: BulkAction, asked: readonly JobState[]): readonly JobState[] {
  if (asked.length > 0) return asked;
  return action === 'retry' ? ['failed'] : BULK_STATES[action];
}

export interface BulkView {
  bulkId: string;
  action: BulkAction;
  status: BulkStatus;
  filter: Record<string, unknown>;
  /** For a retry. */
  mode: RetryMode | null;
  ratePerSecond: number | null;
  /** The number of matching jobs when it was requested. */
  matched: number;
  /** False when there were more: the count is bounded, but the action covers all. */
  matchedIsExact: boolean;
  /** The number of jobs changed so far. */
  done: number;
  /** The number of jobs that had moved on before. */
  skipped: number;
  /** The number of jobs that could not be changed; `note` has the last error. */
  failed: number;
  note: string | null;
  /** Jobs that were created, or ended, after this time are not touched. */
  createdAt: string;
  finishedAt: string | null;
}
