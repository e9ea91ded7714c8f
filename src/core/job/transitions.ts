import type { JobState } from './job.ts';

/**
 * Every legal transition of a job, as data. The pure code, PostgreSQL (through test-only triggers)
 * and the diagram in the docs are checked against this table. Any other transition is refused.
 */
export const TRANSITIONS: readonly { from: JobState; to: JobState; why: string; who: string }[] = [
  { from: 'created', to: 'scheduled', why: 'released', who: 'api' },
  { from: 'created', to: 'queued', why: 'released', who: 'api' },
  { from: 'scheduled', to: 'queued', why: 'its time has come', who: 'scheduler' },
  { from: 'retrying', to: 'queued', why: 'its backoff is over', who: 'scheduler' },
  { from: 'queued', to: 'running', why: 'claimed', who: 'worker' },
  { from: 'running', to: 'succeeded', why: 'run returned', who: 'worker' },
  { from: 'running', to: 'retrying', why: 'retryable failure', who: 'worker' },
  {
    from: 'running',
    to: 'queued',
    why: 'lease lost, interrupted, or not started',
    who: 'worker, reaper',
  },
  { from: 'running', to: 'failed', why: 'it cannot be retried', who: 'worker, reaper' },
  { from: 'running', to: 'scheduled', why: 'snoozed by the job itself', who: 'worker' },
  { from: 'running', to: 'suspended', why: 'it waits for a signal or its children', who: 'worker' },
  {
    from: 'suspended',
    to: 'queued',
    why: 'its signal arrived or timed out, its parents succeeded, or its children ended',
    who: 'api, worker, scheduler',
  },
  { from: 'running', to: 'cancelling', why: 'cancel requested', who: 'api' },
  { from: 'cancelling', to: 'cancelled', why: 'it stopped', who: 'worker, reaper' },
  { from: 'cancelling', to: 'succeeded', why: 'it finished first', who: 'worker' },
  { from: 'created', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  { from: 'scheduled', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  { from: 'queued', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  { from: 'retrying', to: 'cancelled', why: 'cancelled before it ran', who: 'api' },
  {
    from: 'suspended',
    to: 'cancelled',
    why: 'cancelled while it waited, or a parent did not succeed',
    who: 'api, worker, scheduler',
  },
  { from: 'created', to: 'failed', why: 'expired', who: 'scheduler' },
  { from: 'scheduled', to: 'failed', why: 'expired', who: 'scheduler' },
  { from: 'queued', to: 'failed', why: 'no handler, or expired', who: 'scheduler' },
  { from: 'retrying', to: 'failed', why: 'expired', who: 'scheduler' },
  {
    from: 'suspended',
    to: 'failed',
    why: 'expired, or a parent did not succeed',
    who: 'api, worker, scheduler',
  },
  { from: 'failed', to: 'queued', why: 'retried by hand', who: 'api' },
  { from: 'failed', to: 'scheduled', why: 'retried by hand, later', who: 'api' },
  { from: 'failed', to: 'suspended', why: 'retried with its parent', who: 'api' },
  { from: 'cancelled', to: 'suspended', why: 'retried by hand, parents open', who: 'api' },
  { from: 'cancelled', to: 'queued', why: 'retried by hand', who: 'api' },
  { from: 'cancelled', to: 'scheduled', why: 'retried by hand, later', who: 'api' },
];

/** The states in which a job may be created. */
export const FIRST_STATES: readonly JobState[] = ['created', 'scheduled', 'queued', 'suspended'];

export function isLegal(from: JobState, to: JobState): boolean {
  return TRANSITIONS.some((transition) => transition.from === from && transition.to === to);
}
