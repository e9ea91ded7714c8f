import { expect, it } from 'vitest';
import { statsView } from './stats.ts';

const at = new Date('2026-01-31T08:15:20Z');
const nothing = { at, depths: [], recent: [], oldest: [], minutes: [] };
const asked = { windowMinutes: 60, seriesMinutes: 3, unservedAfterMs: 60 };

it('adds up what shards and versions say of one definition', () => {
  const view = statsView(
    {
      ...nothing,
      depths: [
        { key: 'b', version: 1, state: 'queued', n: 2 },
        { key: 'b', version: 2, state: 'queued', n: 3 },
        { key: 'b', version: 1, state: 'cancelling', n: 1 },
        { key: 'a', version: 1, state: null, n: 0 },
      ],
      recent: [
        { key: 'b', succeeded: 2, failed: 1, retried: 2, waited: { 0: 3 }, ran: { 1: 4 } },
        { key: 'b', succeeded: 1, failed: 0, retried: 0, waited: { 0: 1 }, ran: { 1: 1 } },
      ],
      oldest: [
        { key: 'b', version: 1, ageMs: 5, jobId: 'young', served: true },
        { key: 'b', version: 2, ageMs: 70.4, jobId: 'old', served: false },
      ],
    },
    asked,
  );
  expect(view.definitions.map(({ key }) => key)).toEqual(['a', 'b']);
  expect(view.totals).toMatchObject({ queued: 5, cancelling: 1, succeeded: 0 });
  expect(view.definitions[1]).toMatchObject({
    depth: 5,
    running: 1,
    oldestAgeMs: 70,
    oldestJobId: 'old',
    unserved: { depth: 3, oldestAgeMs: 70, oldestJobId: 'old' },
    successRate: 0.75,
    failureRate: 0.25,
    waitMs: { p50: { from: 0, to: 5 } },
    runMs: { p50: { from: 5, to: 5.946 }, p99: { from: 5, to: 5.946 } },
    retries: 2,
  });
  const idle = { depth: 0, oldestAgeMs: null, oldestJobId: null, unserved: null };
  expect(view.definitions[0]).toMatchObject({ ...idle, successRate: null });
  expect(view.windowFrom).toBe('2026-01-31T07:15:00.000Z');
});

it('has a number for every minute, also for those in which nothing happened', () => {
  const counts = { enqueued: 1, started: 2, succeeded: 3, failed: 4, cancelled: 5, retried: 6 };
  const minute = (time: string) => ({ minute: new Date(time), ...counts });
  const minutes = ['2026-01-31T08:12Z', '2026-01-31T08:14Z', '2026-01-31T08:14Z'].map(minute);
  expect(statsView({ ...nothing, minutes }, asked).throughput).toEqual({
    from: '2026-01-31T08:13:00.000Z',
    stepMs: 60_000,
    enqueued: [0, 2, 0],
    started: [0, 4, 0],
    succeeded: [0, 6, 0],
    failed: [0, 8, 0],
    cancelled: [0, 10, 0],
    retried: [0, 12, 0],
  });
});

it.each([
  ['is served', { served: true }, null],
  ['has just been queued', { ageMs: 59 }, null],
  ['is not counted yet', {}, { depth: 1, oldestAgeMs: 60, oldestJobId: 'x' }],
])('a job that %s', (_, over, unserved) => {
  const head = { key: 'b', version: 1, ageMs: 60, jobId: 'x', served: false, ...over };
  const depths = [{ key: 'b', version: 1, state: null, n: 0 }];
  const view = statsView({ ...nothing, depths, oldest: [head] }, asked);
  expect(view.definitions[0]?.unserved).toEqual(unserved);
});
