import { rangeText, rangeOf, bucketOf } from '../../../../src/core/series/histogram.ts';
import type { SeriesView } from '../../../../src/core/series/series.ts';
import { duration } from '../../../../src/core/values/duration.ts';

/** What one chart shows, without how it is drawn. */
export interface ChartModel {
  name: string;
  title: string;
  unit: 'jobs' | 'ms';
  /** Bars are stacked. */
  kind: 'bars' | 'area' | 'lines';
  lines: ChartLine[];
  /** Text alternative. */
  summary: string;
  /** What the values of the legend are about. */
  legend: string;
}

export interface ChartLine {
  name: string;
  /** A class whose colour is that of the line. */
  tone: string;
  values: readonly (number | null)[];
  /** For the legend. */
  total: string;
}

export const OUTCOMES = ['succeeded', 'retried', 'failed', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

/** The charts of a series. Titles of times that no attempt has are kept: their chart is empty. */
export function chartModels(series: SeriesView, during: string): ChartModel[] {
  const step = stepWords(series.stepMs);
  return [
    throughputModel(series, `Finished attempts per ${step}`, during),
    depthModel(series, during),
    retriesModel(series, `Automatic retries per ${step}`, during),
    timesModel('wait', 'Queue time', series.waitMs, series.whole.waitMs, during),
    timesModel('run', 'Run time of the code', series.runMs, series.whole.runMs, during),
  ];
}

function throughputModel(series: SeriesView, title: string, during: string): ChartModel {
  const totals = OUTCOMES.map((outcome) => `${countWords(sumOf(series[outcome]))} ${outcome}`);
  return {
    name: 'throughput',
    title,
    unit: 'jobs',
    kind: 'bars',
    lines: OUTCOMES.map((outcome) => ({
      name: outcome,
      tone: `outcome-${outcome}`,
      values: series[outcome],
      total: countWords(sumOf(series[outcome])),
    })),
    legend: during,
    summary: `Throughput, ${during}: ${totals.join(', ')}`,
  };
}

function depthModel({ depth, whole }: SeriesView, during: string): ChartModel {
  const now = countWords(depth.at(-1) ?? 0);
  const most = countWords(whole.depthMax);
  return {
    name: 'depth',
    title: 'Queue depth',
    unit: 'jobs',
    kind: 'area',
    lines: [
      { name: 'queued', tone: 'line-depth', values: depth, total: `${now}, at most ${most}` },
    ],
    legend: during,
    summary: `Queue depth, ${during}: ${now} queued at the end, ${most} at most`,
  };
}

function retriesModel({ retried }: SeriesView, title: string, during: string): ChartModel {
  const total = countWords(sumOf(retried));
  return {
    name: 'retries',
    title,
    unit: 'jobs',
    kind: 'bars',
    lines: [{ name: 'retried', tone: 'outcome-retried', values: retried, total }],
    legend: during,
    summary: `Automatic retries, ${during}: ${total}`,
  };
}

function timesModel(
  name: string,
  title: string,
  times: SeriesView['runMs'],
  whole: SeriesView['whole']['runMs'],
  during: string,
): ChartModel {
  const lines = PERCENTILES.map((percentile) => {
    const values = times[percentile];
    const total = timeWords(whole[percentile]);
    return { name: percentile, tone: `line-${percentile}`, values, total };
  });
  const most = PERCENTILES.map((percentile) => {
    const known = times[percentile].filter((value) => value !== null);
    return `${percentile} at most ${known.length === 0 ? '–' : timeWords(Math.max(...known))}`;
  });
  return {
    name,
    title,
    unit: 'ms',
    kind: 'lines',
    lines,
    legend: during,
    summary: `${title}, ${during}: ${most.join(', ')}`,
  };
}

export function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

export function isEmpty({ lines, name }: ChartModel): boolean {
  return name !== 'depth' && lines.every(({ values }) => values.every((value) => !value));
}

/** An estimate says so: "≈ 1.3 s", "< 5 ms". */
export function timeWords(ms: number | null): string {
  return ms === null ? '–' : rangeText(rangeOf(bucketOf(ms)));
}

export function countWords(count: number): string {
  return count.toLocaleString('en');
}

export function valueWords(unit: ChartModel['unit'], value: number | null): string {
  if (unit === 'ms') return timeWords(value);
  return value === null ? '–' : countWords(value);
}

/** Labels of an axis. */
export function axisWords(unit: ChartModel['unit'], value: number): string {
  if (unit === 'ms') return value === 0 ? '0' : duration(value);
  return value >= 10_000 ? `${(value / 1_000).toLocaleString('en')}k` : countWords(value);
}

export function stepWords(stepMs: number): string {
  const minutes = stepMs / 60_000;
  if (minutes === 1) return 'minute';
  if (minutes < 60) return `${minutes} minutes`;
  if (minutes === 60) return 'hour';
  return minutes === 1_440 ? 'day' : `${minutes / 60} hours`;
}

/** The times of the points in seconds, as uPlot expects. */
export function timesOf({
  from,
  stepMs,
  depth,
}: Pick<SeriesView, 'from' | 'stepMs' | 'depth'>): number[] {
  const fromSeconds = Date.parse(from) / 1_000;
  return depth.map((_, at) => fromSeconds + (at * stepMs) / 1_000);
}

/** Values as they are drawn: stacked bars contain those below them. */
export function heightsOf({ kind, lines }: ChartModel): (number | null)[][] {
  if (kind !== 'bars') return lines.map(({ values }) => [...values]);
  const heights: number[][] = [];
  for (const { values } of lines) {
    const below = heights.at(-1);
    heights.push(values.map((value, at) => (value ?? 0) + (below?.[at] ?? 0)));
  }
  return heights;
}
