import type { Mark } from '../agent/commands.ts';

/** When the workers together had started so many jobs, between marks by straight line. */
export function momentOf(series: readonly Mark[][], count: number): number | undefined {
  let total = 0;
  let beforeMs: number | undefined;
  for (const { atMs, jobs } of together(series)) {
    if (total + jobs >= count) {
      const part = (count - total) / jobs;
      return beforeMs === undefined ? atMs : beforeMs + (atMs - beforeMs) * part;
    }
    total += jobs;
    beforeMs = atMs;
  }
  return undefined;
}

/** How many jobs the workers together had started by then, between marks by straight line. */
export function countAt(series: readonly Mark[][], atMs: number): number {
  return series.reduce((sum, marks) => {
    const next = marks.findIndex(([markMs]) => markMs > atMs);
    const [afterMs, after] = marks[next] ?? [atMs, 0];
    const [beforeMs, before] = marks.at(next === -1 ? -1 : next - 1) ?? [atMs, 0];
    if (next === -1) return sum + before;
    if (next === 0) return sum;
    return sum + before + ((atMs - beforeMs) / (afterMs - beforeMs)) * (after - before);
  }, 0);
}

/** The marks of all workers in order of time, each with the jobs since the worker's last one. */
function together(series: readonly Mark[][]): { atMs: number; jobs: number }[] {
  return series
    .flatMap((marks) =>
      marks.map(([atMs, count], i) => ({ atMs, jobs: count - (marks[i - 1]?.[1] ?? 0) })),
    )
    .sort((a, b) => a.atMs - b.atMs);
}
