/** What the policy of a job stores of a batch. */
export interface BatchFacts {
  name: string | null;
  /** Ids of the jobs that run after it. */
  onComplete: string | null;
  onSuccess: string | null;
  /** Null while it accepts jobs. */
  closedAt: string | null;
}
