import type { Metric } from './workload.ts';

/** A rate without and with a burden, taken one right after the other, and their ratio. */
export const BURDEN_METRICS: readonly Metric[] = [
  { key: 'free', unit: 'jobs/s', better: 'more' },
  { key: 'burdened', unit: 'jobs/s', better: 'more' },
  { key: 'ratio', unit: '× free', better: 'more' },
];

/** Every other round the burdened one goes first, so a drift of the machine favours neither. */
export async function compare(
  round: number,
  measureFree: () => Promise<number>,
  measureBurdened: () => Promise<number>,
): Promise<Record<string, number>> {
  const early = round % 2 === 0 ? await measureFree() : await measureBurdened();
  const late = round % 2 === 0 ? await measureBurdened() : await measureFree();
  const [free, burdened] = round % 2 === 0 ? [early, late] : [late, early];
  return { free, burdened, ratio: burdened / free };
}
