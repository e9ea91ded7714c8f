import type { Drained } from './drain.ts';
import type { Metric } from './workload.ts';

/** A plain drain and one under a load, taken one right after the other, and their ratio. */
export const PAIR_METRICS: readonly Metric[] = [
  { key: 'plain', unit: 'jobs/s', better: 'more' },
  { key: 'loaded', unit: 'jobs/s', better: 'more' },
  { key: 'ratio', unit: '× plain', better: 'more' },
  { key: 'plain-cpu', unit: 'µs/job', better: 'less' },
  { key: 'loaded-cpu', unit: 'µs/job', better: 'less' },
];

/** Every other round the loaded one goes first, so a drift of the machine favours neither. */
export async function measurePair(
  round: number,
  measurePlain: () => Promise<Drained>,
  measureLoaded: () => Promise<Drained>,
): Promise<Record<string, number>> {
  const early = round % 2 === 0 ? await measurePlain() : await measureLoaded();
  const late = round % 2 === 0 ? await measureLoaded() : await measurePlain();
  const [plain, loaded] = round % 2 === 0 ? [early, late] : [late, early];
  return {
    plain: plain.perSecond,
    loaded: loaded.perSecond,
    ratio: loaded.perSecond / plain.perSecond,
    'plain-cpu': totalOf(plain.cpu),
    'loaded-cpu': totalOf(loaded.cpu),
  };
}

function totalOf(cpu: Record<string, number>): number {
  return Object.values(cpu).reduce((sum, value) => sum + value, 0);
}
