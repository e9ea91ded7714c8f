/** The budget of one run-due call, by command or over HTTP. */
export interface RunDueBudget {
  /** The most jobs to run. */
  max: number;
  /** No job starts after this time. Stopping running jobs may take the cancel grace on top. */
  seconds: number;
}

export const RUN_DUE_DEFAULTS: RunDueBudget = { max: 100, seconds: 50 };

export interface RunDueSummary {
  claimed: number;
  succeeded: number;
  retried: number;
  deadLettered: number;
  /** Due jobs of the loaded definitions that are left, counted up to 10,000 per definition. */
  remaining: number;
}
