import type { Series } from '../../../client/index.ts';
import { bucketOf, rangeOf, rangeText } from '../../../core/series/histogram.ts';
import { duration } from '../../../core/values/duration.ts';
import { columns } from '../columns.ts';
import { sparkline } from './sparkline.ts';

/** What the other columns take, with the spaces between. */
const COLUMNS_WIDTH = 44;
const BARS_MIN = 10;

const SHOWN = ['enqueued', 'started', 'succeeded', 'failed', 'cancelled', 'retried'] as const;

/** The output of `series` within the given width: a line of bars for each figure. */
export function seriesText(series: Series, widthMax: number): string[] {
  const { depth, waitMs, runMs, stepMs } = series;
  const bars = Math.max(BARS_MIN, widthMax - COLUMNS_WIDTH);
  const share = Math.max(1, Math.ceil(depth.length / bars));
  const row = (name: string, values: readonly number[], last: string, all: string) => [
    name,
    sparkline(merged(values, share)),
    last,
    all,
  ];
  const counts = SHOWN.map((name) => {
    const values = series[name];
    const sum = values.reduce((total, value) => total + value, 0);
    return row(name, values, String(values.at(-1) ?? 0), `sum ${sum}`);
  });
  const time = (name: string, values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    const most = known.length === 0 ? '-' : `max ${timeText(Math.max(...known))}`;
    return row(
      name,
      values.map((value) => value ?? 0),
      timeText(values.at(-1) ?? null),
      most,
    );
  };
  const header = ['FIGURE', `EACH BAR ${duration(stepMs * share)}`, 'LAST', 'ALL'];
  const queued = row('queued', depth, String(depth.at(-1) ?? 0), `max ${Math.max(0, ...depth)}`);
  const times = [time('queue time p95', waitMs.p95), time('duration p95', runMs.p95)];
  return columns([header, queued, ...counts, ...times], widthMax);
}

/** Neighbours share a bar, which is as high as the highest of them. */
function merged(values: readonly number[], share: number): number[] {
  return Array.from({ length: Math.ceil(values.length / share) }, (_, at) =>
    Math.max(...values.slice(at * share, (at + 1) * share)),
  );
}

function timeText(ms: number | null): string {
  return ms === null ? '-' : rangeText(rangeOf(bucketOf(ms)));
}
