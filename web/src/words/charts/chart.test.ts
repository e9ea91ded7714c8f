import { expect, it } from 'vitest';
import type { SeriesView } from '../../../../src/core/series/series.ts';
import { axisTimes } from './axis-time.ts';
import {
  axisWords,
  chartModels,
  heightsOf,
  isEmpty,
  stepWords,
  timesOf,
  timeWords,
  valueWords,
} from './chart.ts';

const none = { p50: [null, null], p95: [null, null], p99: [null, null] };
const series: SeriesView = {
  at: '2030-01-01T12:10:00.000Z',
  definitionKey: null,
  from: '2030-01-01T12:00:00.000Z',
  to: '2030-01-01T12:10:00.000Z',
  stepMs: 300_000,
  enqueued: [9, 9],
  started: [9, 9],
  succeeded: [5, 1_000],
  retried: [1, 0],
  failed: [0, 2],
  cancelled: [0, 0],
  depth: [20, 3],
  waitMs: none,
  runMs: { p50: [19, null], p95: [1_580, null], p99: [3_242.3, null] },
  whole: {
    waitMs: { p50: null, p95: null, p99: null },
    runMs: { p50: 7, p95: 19, p99: 20_000 },
    depthMax: 25,
  },
  histograms: null,
};
const models = chartModels(series, 'last hour');
const model = (name: string) => models.find((one) => one.name === name) ?? fail(name);

function fail(name: string): never {
  throw new Error(`no chart ${name}`);
}

it('has values of the whole range in its legends, not those of the last point', () => {
  const totals = (name: string) => model(name).lines.map(({ total }) => total);
  expect(totals('run')).toEqual(['≈ 7 ms', '≈ 19 ms', '≈ 19 s']);
  expect(totals('wait')).toEqual(['–', '–', '–']);
  expect(totals('depth')).toEqual(['3, at most 25']);
  expect(model('run').legend).toBe('last hour');
});

it('describes every chart in words', () => {
  expect(models.map(({ summary }) => summary)).toEqual([
    'Throughput, last hour: 1,005 succeeded, 1 retried, 2 failed, 0 cancelled',
    'Queue depth, last hour: 3 queued at the end, 25 at most',
    'Automatic retries, last hour: 1',
    'Queue time, last hour: p50 at most –, p95 at most –, p99 at most –',
    'Run time of the code, last hour: p50 at most ≈ 19 ms, p95 at most ≈ 1.6 s, p99 at most ≈ 3.2 s',
  ]);
  expect(model('throughput').title).toBe('Finished attempts per 5 minutes');
});

it('stacks bars, not lines', () => {
  expect(heightsOf(model('throughput'))).toEqual([
    [5, 1_000],
    [6, 1_000],
    [6, 1_002],
    [6, 1_002],
  ]);
  expect(heightsOf(model('run'))[0]).toEqual([19, null]);
  expect(timesOf(series).map((at) => at - Date.parse(series.from) / 1_000)).toEqual([0, 300]);
});

it('knows which chart has nothing to show', () => {
  const nothing = chartModels({ ...series, retried: [0, 0], depth: [0, 0] }, 'last hour');
  expect(nothing.filter(isEmpty).map(({ name }) => name)).toEqual(['retries', 'wait']);
});

it('shows estimates as such', () => {
  expect([null, 2.5, 1_580, 86_400_000].map(timeWords)).toEqual(['–', '< 5 ms', '≈ 1.6 s', '> 1d']);
  expect([valueWords('jobs', 1_234), valueWords('jobs', null)]).toEqual(['1,234', '–']);
});

it('labels its axes', () => {
  expect([0, 500, 12_500].map((value) => axisWords('jobs', value))).toEqual(['0', '500', '12.5k']);
  expect([0, 250, 60_000].map((value) => axisWords('ms', value))).toEqual(['0', '250 ms', '1m']);
  expect([60_000, 300_000, 3_600_000, 7_200_000, 86_400_000].map(stepWords)).toEqual([
    'minute',
    '5 minutes',
    'hour',
    '2 hours',
    'day',
  ]);
  const at = (...hours: number[]) =>
    hours.map((hour) => new Date(2030, 0, 1, hour).getTime() / 1_000);
  expect(axisTimes(at(22, 23, 24, 25))).toEqual(['22:00', '23:00', '2 Jan', '01:00']);
  expect(axisTimes(at(0, 24, 48))).toEqual(['1 Jan', '2 Jan', '3 Jan']);
  expect(axisTimes([])).toEqual([]);
});
