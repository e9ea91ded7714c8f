import type { JobError, TerminalState } from '../job/job.ts';

/** How a job ended that another one waited for, as the API shows it. */
export interface OutcomeView {
  jobId: string;
  /** Null when a child has not ended. */
  status: TerminalState | null;
  /** Null unless it succeeded and is still stored. */
  result: unknown;
  /** Only if the result is large: then `result` is null. */
  largeResult?: { bytes: number } | undefined;
  error: JobError | null;
  /** There was no room for its result and its error. */
  omitted?: true | undefined;
}

export interface ChildOutcomeView extends OutcomeView {
  /** Its name among the children: as the code gave it, or its place, like `#1`. */
  name: string;
  /** A hash of its definition and params: a call with others is warned of. */
  asked: string;
}

/** What an attempt of a job gets of its parents and its children. */
export interface OutcomesView {
  /** Those that have ended, in the order of the caller. */
  parents: OutcomeView[];
  /** In the order in which they were spawned. */
  children: ChildOutcomeView[];
  /** False when results are left out, because together they are too long. */
  complete: boolean;
}
