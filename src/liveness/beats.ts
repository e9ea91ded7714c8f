/**
 * A second place where workers say that they are alive, beside their lease in the database. It is
 * hearsay: every call may fail or be wrong, and nothing may be decided by it alone.
 */
export interface Beats {
  /** Says that this worker runs these jobs now: one round trip, however many they are. */
  beat(worker: string, jobIds: readonly string[]): Promise<void>;
  /** Who last said so of each job; null where nobody did lately. */
  ownersOf(jobIds: readonly string[]): Promise<Map<string, string | null>>;
}
