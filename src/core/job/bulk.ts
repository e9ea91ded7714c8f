import { type JobState, TERMINAL_STATES, WAITING_STATES } from './job.ts';
import { RETRYABLE_STATES, type RetryMode } from '../failure/retry.ts';

/**
 * One thing done to many jobs: to all that match a filter and were there when it was asked for. It is
 * worked off in the background, tells how far it has come, and can be stopped.
 */
export const BULK_ACTIONS = ['cancel', 'retry', 'delete'] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

export const BULK_STATUSES = ['running', 'finished', 'aborted'] as const;
export type BulkStatus = (typeof BULK_STATUSES)[number];

/** In which states the action can do something. */
export const BULK_STATES: Record<BulkAction, readonly JobState[]> = {
  cancel: [...WAITING_STATES, 'running'],
  retry: RETRYABLE_STATES,
  delete: TERMINAL_STATES,
};

/** Which states are meant when nobody says: those that somebody cancelled stay cancelled. */
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
  /** How many matched when it was asked for. */
  matched: number;
  /** False when there were more: they are counted up to a bound, but all of them are acted on. */
  matchedIsExact: boolean;
  /** How many it has changed so far. */
  done: number;
  /** How many had moved on before it came to them. */
  skipped: number;
  /** How many could not be changed; `note` says why the last one could not. */
  failed: number;
  note: string | null;
  /** When it was asked for: nothing that was made, or ended, later is touched. */
  createdAt: string;
  finishedAt: string | null;
}
