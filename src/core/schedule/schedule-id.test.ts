import { expect, test } from 'vitest';
import { makeJobId } from '../job/job-id.ts';
import { bucketOf, BUCKETS, jitterOf, ownsBucket, shardOfScheduleId } from './schedule-id.ts';

const ids = Array.from({ length: 6_400 }, (_, index) =>
  makeJobId({
    timeMs: 1_700_000_000_000 + index,
    sequence: 0,
    random: [index * 7, index],
    shard: 3,
  }),
);

test('ids carry the shard and spread over all buckets', () => {
  const counts = new Map<number, number>();
  for (const id of ids) {
    expect(shardOfScheduleId(id)).toBe(3);
    counts.set(bucketOf(id), (counts.get(bucketOf(id)) ?? 0) + 1);
  }
  expect(counts.size).toBe(BUCKETS);
  expect(Math.max(...counts.values())).toBeLessThan(150);
  expect(Math.min(...counts.values())).toBeGreaterThan(60);
});

test('every bucket has exactly one owner, however many schedulers there are', () => {
  for (const count of [1, 2, 3, 7, 64, 100]) {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const places = Array.from({ length: count }, (_, ordinal) => ({ count, ordinal }));
      expect(places.filter((place) => ownsBucket(bucket, place))).toHaveLength(1);
    }
  }
});

test('jitter is the same for the same slot, and spread over its length', () => {
  const [id = ''] = ids;
  expect(jitterOf(id, 1_000, 60_000)).toBe(jitterOf(id, 1_000, 60_000));
  expect(jitterOf(id, 1_000, 0)).toBe(0);
  const delays = ids.map((one) => jitterOf(one, 1_000, 1_000));
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...delays)).toBeLessThan(1_000);
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
  expect(mean).toBeGreaterThan(450);
  expect(mean).toBeLessThan(550);
});
