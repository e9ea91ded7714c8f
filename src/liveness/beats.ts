/**
 * A second signal that workers are alive, besides their lease in the database. Every call may fail
 * or be wrong, so no decision may rest on it alone.
 */
export interface Beats {
  /** Records that this worker runs these jobs now, in one round trip. */
  beat(worker: string, jobIds: readonly string[]): Promise<void>;
  /** The worker that last sent a heartbeat for each job; null where none did lately. */
  ownersOf(jobIds: readonly string[]): Promise<Map<string, string | null>>;
}
