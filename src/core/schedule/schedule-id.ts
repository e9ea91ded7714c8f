import { shardOfJobId } from '../job/job-id.ts';

/**
 * Schedule ids have the format of job ids and carry the shard of the queue of their jobs, so a slot
 * and its job are written in one transaction in one shard.
 */
export { isJobId as isScheduleId } from '../job/job-id.ts';

export function shardOfScheduleId(id: string): number {
  return shardOfJobId(id);
}

/** Schedulers divide the schedules by bucket; the number never changes. */
export const BUCKETS = 64;

/** Hashes the whole id, because its time and shard would cluster neighbours. */
export function bucketOf(scheduleId: string): number {
  return hash32(scheduleId) % BUCKETS;
}

/** A bucket belongs to one of `count` schedulers, by its ordinal. */
export function ownsBucket(bucket: number, { count, ordinal }: SchedulerPosition): boolean {
  return bucket % Math.max(1, count) === ordinal;
}

/** The position of a scheduler among the live ones. */
export interface SchedulerPosition {
  count: number;
  ordinal: number;
}

/** Deterministic per slot: 0 to just below `jitterMs`. */
export function jitterOf(scheduleId: string, slotAtMs: number, jitterMs: number): number {
  const share = hash32(`${scheduleId} ${slotAtMs}`) / 2 ** 32;
  return Math.floor(share * jitterMs);
}

/** FNV-1a with a finalizer, because the high bits of similar texts are similar without it. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
