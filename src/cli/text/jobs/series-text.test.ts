import { expect, it } from 'vitest';
import type { Series } from '../../../client/index.ts';
import { seriesText } from './series-text.ts';

const none = [null, null, null, null];
const series: Series = {
  at: '2030-01-01T12:04:00.000Z',
  definitionKey: null,
  from: '2030-01-01T12:00:00.000Z',
  to: '2030-01-01T12:04:00.000Z',
  stepMs: 60_000,
  enqueued: [8, 0, 4, 1],
  started: [1, 1, 1, 1],
  succeeded: [1, 1, 1, 0],
  failed: [0, 0, 0, 0],
  cancelled: [0, 0, 0, 0],
  retried: [0, 0, 0, 1],
  depth: [7, 6, 9, 9],
  waitMs: { p50: none, p95: none, p99: none },
  runMs: { p50: none, p95: [1_580, null, 19, 2.5], p99: none },
  whole: {
    depthMax: 20,
    waitMs: { p50: null, p95: null, p99: null },
    runMs: { p50: null, p95: null, p99: null },
  },
  histograms: null,
};

it('has a line of bars for each figure', () => {
  expect(seriesText(series, 80)).toEqual([
    'FIGURE          EACH BAR 1m  LAST    ALL',
    'queued          ▆▆██         9       max 9',
    'enqueued        █▁▅▂         1       sum 13',
    'started         ████         1       sum 4',
    'succeeded       ███▁         0       sum 3',
    'failed          ▁▁▁▁         0       sum 0',
    'cancelled       ▁▁▁▁         0       sum 0',
    'retried         ▁▁▁█         1       sum 1',
    'queue time p95  ▁▁▁▁         -       -',
    'duration p95    █▁▂▂         < 5 ms  max ≈ 1.6 s',
  ]);
});

it('has one bar per step in a pipe, which has no width', () => {
  expect(seriesText(series, Infinity)[0]).toContain('EACH BAR 1m');
});

it('shares bars where the terminal is narrow', () => {
  const long = Array.from({ length: 120 }, (_, at) => at);
  const [header = '', queued = ''] = seriesText({ ...series, depth: long }, 80);
  expect(header).toContain('EACH BAR 4m');
  expect(queued.match(/[▁-█]/g)).toHaveLength(30);
});
