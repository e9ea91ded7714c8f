import { describe, expect, it, test } from 'vitest';
import { jobsByState, type ShardRows, shardsView } from './shards.ts';

const rows: ShardRows = {
  host: '10.0.0.5',
  port: 5432,
  database: 'jobs',
  depths: [
    { state: 'queued', n: 12 },
    { state: 'succeeded', n: 900 },
    { state: 'retrying', n: -1 },
  ],
  oldestAgeMs: 1_500.4,
  lateMs: 0,
  enqueued: 30,
  ended: 15,
  live: 2,
  dead: 1,
};
const window = {
  at: new Date('2026-11-18T10:01:00.000Z'),
  from: new Date('2026-11-18T10:00:00.000Z'),
};

describe('shardsView', () => {
  it('numbers the shards in order and turns counts into rates', () => {
    const { at, windowSeconds, shards } = shardsView(window, [rows, { ...rows, enqueued: 0 }]);
    expect({ at, windowSeconds }).toEqual({ at: '2026-11-18T10:01:00.000Z', windowSeconds: 60 });
    expect(shards[0]).toEqual({
      shard: 0,
      node: '10.0.0.5:5432/jobs',
      problem: null,
      jobs: jobsByState(rows.depths),
      oldestAgeMs: 1_500,
      lateMs: 0,
      enqueuedPerSecond: 0.5,
      endedPerSecond: 0.25,
      workers: { live: 2, dead: 1 },
    });
    expect(shards[1]).toMatchObject({ shard: 1, enqueuedPerSecond: 0 });
    const [slow] = shardsView(window, [{ ...rows, ended: 0.01 }]).shards;
    expect(slow?.endedPerSecond).toBeGreaterThan(0);
  });

  it('shows a shard that did not answer beside the others', () => {
    const { shards } = shardsView(window, [{ problem: 'the disk is full' }, rows]);
    expect(shards[0]).toMatchObject({ shard: 0, problem: 'the disk is full', jobs: null });
    expect(shards[1]).toMatchObject({ shard: 1, problem: null, workers: { live: 2 } });
  });

  test.each([
    [{ host: null, port: null }, 'local/jobs'],
    [{ host: '::1', port: 5433 }, '[::1]:5433/jobs'],
  ])('names the node of %o', (changes, name) => {
    expect(shardsView(window, [{ ...rows, ...changes }]).shards[0]?.node).toBe(name);
  });
});

describe('jobsByState', () => {
  it('counts live states only, and never below zero', () => {
    expect(jobsByState(rows.depths)).toEqual({
      created: 0,
      scheduled: 0,
      queued: 12,
      running: 0,
      retrying: 0,
      suspended: 0,
      cancelling: 0,
    });
  });
});
