const BARS = '▁▂▃▄▅▆▇█';

/** One bar for each number, relative to the largest; only zero has the lowest bar. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(1, ...values);
  return values
    .map((value) => BARS[value === 0 ? 0 : Math.max(1, Math.round((value / most) * 7))])
    .join('');
}
