/** What the policy of a job stores of a batch. */
export interface BatchFacts {
  name: string | null;
  /** Ids of the jobs that run after it. */
  onComplete: string | null;
  onSuccess: string | null;
  /** Null while it accepts jobs. */
  closedAt: string | null;
  /** Who has cancelled it last; null or absent: it was not cancelled, or by a caller without a name. */
  cancelledBy?: string | null | undefined;
}
