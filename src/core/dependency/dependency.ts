import { failureOf } from '../failure/failure.ts';
import type { JobError, TerminalState } from '../job/job.ts';

/**
 * A job may wait for other jobs, its parents: it is `suspended` until all of them have ended. Parents
 * exist before the job, so there are no cycles.
 */

/** The most parents of one job. */
export const PARENTS_MAX = 100;

/** What happens to a job when a parent failed or was cancelled: it fails, runs, or is cancelled. */
export const ON_PARENT_FAILURE = ['fail', 'run', 'cancel'] as const;
export type OnParentFailure = (typeof ON_PARENT_FAILURE)[number];

/** `waiting.waits_for` of a job that waits for its parents. No signal has such a name. */
export const PARENTS = ':parents';

/** What a new job waits for. */
export interface After {
  /** Ids of its parents, in the order of the caller. */
  jobs: readonly string[];
  onFailure: OnParentFailure;
}

/** A parent that did not succeed. */
export interface Unsuccessful {
  id: string;
  ended: Exclude<TerminalState, 'succeeded'>;
  onFailure: Exclude<OnParentFailure, 'run'>;
}

export type ParentsVerdict =
  { kind: 'wait' } | { kind: 'run' } | { kind: 'cancel' } | { kind: 'fail'; error: JobError };

/** A parent that did not succeed decides at once, even if others have not ended. */
export function judgeParents(open: boolean, unsuccessful: Unsuccessful | null): ParentsVerdict {
  if (unsuccessful?.onFailure === 'cancel') return { kind: 'cancel' };
  if (unsuccessful) return { kind: 'fail', error: parentFailed(unsuccessful) };
  return { kind: open ? 'wait' : 'run' };
}

export function parentFailed({ id, ended }: Pick<Unsuccessful, 'id' | 'ended'>): JobError {
  return failureOf('PARENT_FAILED', `its parent ${id} ${OUTCOMES[ended]}`);
}

const OUTCOMES = { failed: 'failed', cancelled: 'was cancelled' } as const;

/** What a job learns of a job that it waited for. */
export interface JobOutcome {
  id: string;
  state: TerminalState;
  /** Null unless it succeeded, and when it is no longer stored or omitted. */
  result: unknown;
  error: JobError | null;
  /** There was no room: the result is null although there is one, or the error is shortened. */
  omitted?: true | undefined;
}

/** The step under which an attempt gets the outcomes of the parents; it is not stored. */
export const PARENTS_STEP = 'parents:';
/** Together the results of the parents have at most this many characters as JSON. */
export const OUTCOMES_MAX_CHARS = 8_000_000;
/** Beyond that, an error has its code and this much of its message. */
export const OMITTED_MESSAGE_MAX = 200;

/** For the log of a job; null when no outcome is omitted. */
export function omittedWarning(
  outcomes: readonly Pick<JobOutcome, 'omitted'>[],
  of: 'parents' | 'children',
): string | null {
  const omitted = outcomes.filter((one) => one.omitted).length;
  if (omitted === 0) return null;
  return (
    `${omitted} of ${outcomes.length} outcomes of ${of} are omitted (omitted: true), because together ` +
    'they have more than 8 MB of JSON, or because this worker cannot read large values: read the ' +
    "result of one with client.value(id, 'result') or " +
    '"npx longshore show ID --result"'
  );
}
