/** How much one call may do that runs what is due: the command `run-due`, and its twin over HTTP. */
export interface RunDueBudget {
  /** So many jobs at most. */
  max: number;
  /** Then nothing is begun any more. Stopping what runs may take the cancel grace on top. */
  seconds: number;
}

export const RUN_DUE_DEFAULTS: RunDueBudget = { max: 100, seconds: 50 };

export interface RunDueSummary {
  claimed: number;
  succeeded: number;
  retried: number;
  deadLettered: number;
  /** Due jobs of the loaded definitions that are left, counted up to 10,000 of each. */
  remaining: number;
}
