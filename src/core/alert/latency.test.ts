import { describe, expect, it } from 'vitest';
import { bucketOf, emptyCounts } from '../series/histogram.ts';
import { AlertRules, type Finding, judge } from './alert-rules.ts';
import { growthPercent, p95Ms, timesSum } from './latency.ts';

/** So many times of each length. */
function times(...counts: [ms: number, count: number][]): number[] {
  const made = emptyCounts();
  for (const [ms, count] of counts) made[bucketOf(ms)] = (made[bucketOf(ms)] ?? 0) + count;
  return made;
}

it.each([
  ['nothing', times(), null],
  ['too few', times([3, 19]), null],
  ['enough', times([3, 20]), 2.5],
  ['many fast ones and a few slow ones', times([3, 90], [1_500, 10]), 1_581.4],
])('takes the p95 of %s', (_, counts, expected) => {
  expect(p95Ms(counts) === null ? null : Math.round((p95Ms(counts) ?? 0) * 10) / 10).toBe(expected);
});

it.each([
  ['as long as then', times([2_000, 50]), times([2_000, 50]), 100],
  ['five times as long', times([6_000, 100]), times([1_500, 100]), 410],
  ['faster', times([1_500, 100]), times([6_000, 100]), 24],
  ['grown, but still short', times([200, 100]), times([3, 100]), 0],
  ['without times a week ago', times([6_000, 100]), times(), 0],
  ['with few times a week ago', times([6_000, 100]), times([3, 19]), 0],
  ['with few times now', times([6_000, 19]), times([3, 100]), 0],
])('compares what is %s', (_, now, weekAgo, percent) => {
  expect(growthPercent({ now, weekAgo })).toBe(percent);
});

it('adds up shards and versions before it takes a p95', () => {
  const sum = timesSum(
    { now: times([3, 19]), weekAgo: times([3, 1]) },
    { now: times([3, 1]), weekAgo: [] },
  );
  expect(sum).toEqual({ now: times([3, 20]), weekAgo: times([3, 1]) });
});

describe('the rules about latency', () => {
  const found = (rule: Finding['rule'], now: number[], weekAgo: number[] = []): Finding => ({
    rule,
    tenant: 'acme',
    definitionKey: 'mail',
    scheduleId: null,
    jobId: null,
    value: 0,
    times: { now, weekAgo },
  });
  const rules = new AlertRules([], {
    'wait-p95': { threshold: 6_000 },
    'run-growth': { threshold: 400 },
  });

  it('are off until a threshold is set', () => {
    const slow = times([50_000, 100]);
    const none = new AlertRules([], {});
    expect(judge([found('wait-p95', slow), found('run-p95', slow)], none)).toEqual([]);
    const fired = judge([found('wait-p95', slow), found('run-p95', slow)], rules);
    expect(fired.map(({ rule }) => rule)).toEqual(['wait-p95']);
    const off = new AlertRules([], { 'wait-p95': { threshold: 6_000, enabled: false } });
    expect(off.thresholdMin('wait-p95')).toBe(Infinity);
  });

  it('fire by the histogram of all shards together', () => {
    const parts = [found('wait-p95', times([6_000, 15])), found('wait-p95', times([6_000, 5]))];
    expect(judge(parts.slice(0, 1), rules)).toEqual([]);
    expect(judge(parts, rules)).toMatchObject([
      {
        value: 6_484,
        message: '95 % of the jobs of mail waited up to 6.4 s within 1h (threshold 6 s)',
      },
    ]);
  });

  it('say both times when they compare', () => {
    const growth = found('run-growth', times([6_000, 100]), times([1_500, 100]));
    expect(judge([growth], rules).map(({ message }) => message)).toEqual([
      'attempts of mail run 410 % as long as a week ago (threshold 400 %): p95 6.4 s, then 1.5 s',
    ]);
  });
});
