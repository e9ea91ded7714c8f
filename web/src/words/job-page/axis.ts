import { DAY_MS, duration, HOUR_MS, MINUTE_MS } from '../../../../src/core/values/duration.ts';

/** The part of a timeline that is drawn. */
export interface Range {
  fromMs: number;
  toMs: number;
}

/** Percent of the width of the axis. */
export interface Position {
  left: number;
  width: number;
}

/** Null if nothing of it is in the range. */
export function positionIn(entry: Range, { fromMs, toMs }: Range): Position | null {
  if (entry.toMs < fromMs || entry.fromMs > toMs) return null;
  const wholeMs = Math.max(1, toMs - fromMs);
  const left = ((Math.max(entry.fromMs, fromMs) - fromMs) / wholeMs) * 100;
  const right = ((Math.min(entry.toMs, toMs) - fromMs) / wholeMs) * 100;
  return { left, width: right - left };
}

/** The range of an entry with a little space around it, inside the whole. */
export function zoomTo(entry: Range, whole: Range): Range {
  const marginMs = Math.max(1, (entry.toMs - entry.fromMs) * 0.02);
  return {
    fromMs: Math.max(whole.fromMs, entry.fromMs - marginMs),
    toMs: Math.min(whole.toMs, entry.toMs + marginMs),
  };
}

const SECOND_MS = 1_000;
const SHORT_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const LENGTHS_MS = [
  ...SHORT_MS,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR_MS),
  ...[1, 2, 5, 10, 20, 50, 100, 200].map((count) => count * DAY_MS),
];
const TICKS_MAX = 6;

export interface Tick {
  /** Percent of the width of the axis. */
  left: number;
  /** Time since the start of the job. */
  words: string;
}

/** Round times since `startMs`, the start of the job. */
export function ticksOf({ fromMs, toMs }: Range, startMs: number): Tick[] {
  const wholeMs = Math.max(1, toMs - fromMs);
  const lengthMs = LENGTHS_MS.find((one) => wholeMs / one <= TICKS_MAX) ?? wholeMs;
  const ticks: Tick[] = [];
  const first = Math.ceil((fromMs - startMs) / lengthMs) * lengthMs;
  for (let at = first; at <= toMs - startMs; at += lengthMs) {
    const left = ((startMs + at - fromMs) / wholeMs) * 100;
    ticks.push({ left, words: at === 0 ? '0' : duration(at) });
  }
  return ticks;
}
