import { shardOfJobId } from '../job/job-id.ts';

/**
 * Ids of schedules are made like those of jobs, so they carry their shard too: that of the queue
 * their jobs wait in, so that a slot and its job are one transaction inside one shard.
 */
export { isJobId as isScheduleId } from '../job/job-id.ts';

export function shardOfScheduleId(id: string): number {
  return shardOfJobId(id);
}

/** Schedulers divide schedules among themselves by these; their number never changes. */
export const BUCKETS = 64;

/** By all that is random in the id: the shard and the time would put neighbours together. */
export function bucketOf(scheduleId: string): number {
  return hash32(scheduleId) % BUCKETS;
}

/** A bucket belongs to one of `count` schedulers, by its place among them. */
export function ownsBucket(bucket: number, { count, ordinal }: SchedulerPosition): boolean {
  return bucket % Math.max(1, count) === ordinal;
}

/** Where a scheduler stands among those that are alive. */
export interface SchedulerPosition {
  count: number;
  ordinal: number;
}

/** The same slot always gets the same delay, whoever computes it: 0 to just below `jitterMs`. */
export function jitterOf(scheduleId: string, slotAtMs: number, jitterMs: number): number {
  const share = hash32(`${scheduleId} ${slotAtMs}`) / 2 ** 32;
  return Math.floor(share * jitterMs);
}

/** FNV-1a with a last stir, without which the high bits of like texts are alike. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
