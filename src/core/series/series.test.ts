import { expect, it } from 'vitest';
import { bucketOf } from './histogram.ts';
import { type SeriesSlot, seriesView } from './series.ts';

const MINUTE_MS = 60_000;
const fromMs = Date.parse('2026-05-20T12:00:00Z');
const at = new Date(fromMs + 9.5 * MINUTE_MS);

function slot(minute: number, change: Partial<SeriesSlot> = {}): SeriesSlot {
  const none = { enqueued: 0, started: 0, succeeded: 0, failed: 0, cancelled: 0, retried: 0 };
  const empty = { ...none, deeper: 0, waited: {}, ran: {} };
  return { ...empty, slot: new Date(fromMs + minute * MINUTE_MS), ...change };
}

const plan = { fromMs, toMs: fromMs + 10 * MINUTE_MS, stepMs: 5 * MINUTE_MS, slotMinutes: 1 };
const asked = { at, definitionKey: 'mail', histograms: false };

it('adds up slots and shards', () => {
  const view = seriesView(
    [
      { depthAtEnd: 0, slots: [slot(0, { succeeded: 2 }), slot(4, { succeeded: 3, failed: 1 })] },
      { depthAtEnd: 0, slots: [slot(4, { succeeded: 10 }), slot(9, { retried: 7 })] },
    ],
    plan,
    asked,
  );
  expect(view).toMatchObject({
    definitionKey: 'mail',
    from: '2026-05-20T12:00:00.000Z',
    to: '2026-05-20T12:10:00.000Z',
    stepMs: 5 * MINUTE_MS,
    succeeded: [15, 0],
    failed: [1, 0],
    retried: [0, 7],
    histograms: null,
  });
});

it.each([
  ['nothing happened', 4, [], [4, 4]],
  ['jobs came and went', 1, [slot(1, { deeper: 8 }), slot(3, { deeper: -9 })], [10, 1]],
  ['jobs left in the last step', 2, [slot(1, { deeper: 8 }), slot(8, { deeper: -6 })], [8, 2]],
  ['jobs came at the end', 6, [slot(9, { deeper: 6 })], [0, 6]],
  ['jobs came and went within a slot', 0, [slot(2, { deeper: 0 })], [0, 0]],
  ['the counters disagree', 0, [slot(6, { deeper: 5 })], [0, 0]],
])('knows how deep the queue was when %s', (_, depthAtEnd, slots, depth) => {
  expect(seriesView([{ depthAtEnd, slots }], plan, asked).depth).toEqual(depth);
});

it('keeps a peak of a long step, and one of the last step', () => {
  const long = { ...plan, slotMinutes: 15 };
  const peak = (minute: number) => [
    { slot: slot(minute).slot, deeper: 12 },
    { slot: slot(minute + 1).slot, deeper: -9 },
  ];
  const view = (minute: number) =>
    seriesView(
      [{ depthAtEnd: 3, slots: [], depths: { depthAtEnd: 3, changes: peak(minute) } }],
      long,
      asked,
    );
  expect(view(2)).toMatchObject({ depth: [12, 3], whole: { depthMax: 12 } });
  expect(view(7)).toMatchObject({ depth: [0, 3], whole: { depthMax: 12 } });
});

it('takes percentiles of all slots of a step together', () => {
  const [fast, slow] = [bucketOf(20), bucketOf(3_000)];
  const slots = [slot(0, { ran: { [fast]: 90 } }), slot(1, { ran: { [fast]: 4, [slow]: 6 } })];
  const { runMs, waitMs } = seriesView([{ depthAtEnd: 0, slots }], plan, asked);
  expect(runMs).toEqual({ p50: [19, null], p95: [3242.3, null], p99: [3242.3, null] });
  expect(waitMs.p50).toEqual([null, null]);
});

it('gives the histograms without empty ends', () => {
  const slots = [slot(0, { waited: { 3: 1, 5: 2 } }), slot(6, { waited: { 4: 7 } })];
  const { histograms } = seriesView([{ depthAtEnd: 0, slots }], plan, {
    ...asked,
    histograms: true,
  });
  expect(histograms).toEqual({
    wait: {
      buckets: [
        { from: 7.071, to: 8.409 },
        { from: 8.409, to: 10 },
        { from: 10, to: 12.01 },
      ],
      counts: [
        [1, 0, 2],
        [0, 7, 0],
      ],
    },
    run: { buckets: [], counts: [[], []] },
  });
});
