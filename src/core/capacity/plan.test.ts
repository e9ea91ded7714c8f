import { describe, expect, it, test } from 'vitest';
import { FEATURE_COSTS, VALUES } from './constants.ts';
import { added, costParts, jobCost, times, valueCost } from './job-cost.ts';
import { planCapacity } from './plan.ts';
import { DEFAULT_WORKLOAD, FEATURES, type Workload } from './workload.ts';

const workload = (changes: Partial<Workload> = {}): Workload => ({
  ...DEFAULT_WORKLOAD,
  jobsPerDay: 10e6,
  ...changes,
});
const LARGE = { enqueue: 500, perCall: 500, round: 500 };

describe('the cost of a job', () => {
  it('is the sum of its parts', () => {
    const parts = costParts(workload({ logLines: 3, webhooks: 0.5 }), LARGE);
    const sum = added(...Object.values(parts));
    expect(jobCost(workload({ logLines: 3, webhooks: 0.5 }), LARGE)).toEqual(sum);
    expect(parts['base']?.walBytes).toBeGreaterThan(0);
  });

  it('is lower in larger batches, and never below that of a plain job', () => {
    const costs = [1, 10, 100, 1_000].map(
      (n) => jobCost(workload(), { enqueue: n, perCall: n, round: n }).serverUs,
    );
    expect(costs).toEqual([...costs].sort((a, b) => b - a));
    expect(costs.at(-1)).toBeGreaterThan(costParts(workload(), LARGE)['base']?.serverUs ?? NaN);
  });

  test.each(FEATURES)('grows with the share of %s as measured', (feature) => {
    const without = jobCost(workload({ [feature]: 0 }), LARGE);
    const half = jobCost(workload({ [feature]: 0.5 }), LARGE);
    const more = times(FEATURE_COSTS[feature], 0.5);
    expect(half.serverUs - without.serverUs).toBeCloseTo(more.serverUs);
    expect(half.storedBytes - without.storedBytes).toBeCloseTo(more.storedBytes);
  });

  test.each(VALUES.map((one) => [one.bytes, one] as const))(
    'has the measured cost of a value of %i bytes',
    (bytes, { walBytes = NaN, storedBytes = NaN }) => {
      expect(valueCost(bytes).walBytes).toBeCloseTo(walBytes);
      expect(valueCost(bytes).storedBytes).toBeCloseTo(storedBytes);
    },
  );

  it('is a line between measured sizes, and beyond the largest', () => {
    const { walBytes } = valueCost(250);
    expect(walBytes).toBeCloseTo(valueCost(500).walBytes / 2);
    expect(valueCost(1e6).storedBytes).toBeGreaterThan(1e6);
    expect(valueCost(1e6).storedBytes).toBeLessThan(1.5e6);
  });
});

describe('a plan', () => {
  it('has slots for the peak and a reserve', () => {
    const { rate, workers } = planCapacity(workload({ jobsPerDay: 864_000, seconds: 4 }));
    expect(rate).toEqual({ meanPerSecond: 10, peakPerSecond: 20 });
    expect(workers).toMatchObject({ slots: 100, processes: 1 });
  });

  it('keeps history for the retention and the day that is not over', () => {
    const week = planCapacity(workload({ retentionDays: 7 }));
    const fortnight = planCapacity(workload({ retentionDays: 15 }));
    expect(fortnight.database.historyBytes).toBeCloseTo(week.database.historyBytes * 2, -3);
    expect(week.database.historyBytes).toBeCloseTo(week.job.storedBytes * 10e6 * 8, -3);
  });

  test.each<[string, Partial<Workload>, (plan: ReturnType<typeof planCapacity>) => number]>([
    ['a fresh process needs more worker cores', { isolation: 'fresh' }, (p) => p.workers.cores],
    ['params need more disk', { paramsBytes: 10_000 }, (p) => p.database.diskBytes],
    ['a higher peak needs more cores', { peak: 5 }, (p) => p.database.cores],
    ['webhooks need more cores', { webhooks: 1 }, (p) => p.database.cores],
    ['longer jobs need more memory', { seconds: 60 }, (p) => p.workers.memoryBytes],
    ['smaller workers need more connections', { concurrency: 8 }, (p) => p.database.connections],
    ['own code needs cores', { cpuSeconds: 1 }, (p) => p.workers.jobCores],
  ])('%s', (_, changes, of) => {
    expect(of(planCapacity(workload(changes)))).toBeGreaterThan(of(planCapacity(workload())));
  });

  test.each<[string, Partial<Workload>, (plan: ReturnType<typeof planCapacity>) => number]>([
    ['batches save database cores', { batch: 100 }, (p) => p.database.cores],
    ['larger workers save database cores', { concurrency: 1_000 }, (p) => p.database.cores],
    ['jobs inside the worker save memory', { isolation: 'inline' }, (p) => p.workers.memoryBytes],
  ])('%s', (_, changes, of) => {
    const busy = { jobsPerDay: 1e9 };
    const changed = of(planCapacity(workload({ ...busy, ...changes })));
    expect(changed).toBeLessThan(of(planCapacity(workload(busy))));
  });

  it('counts database machines by cores and by disk', () => {
    const many = { jobsPerDay: 1e9, machineCores: 4, machineDiskBytes: 1e15 };
    expect(planCapacity(workload(many)).database.machines).toBeGreaterThan(1);
    const full = { jobsPerDay: 1e9, machineCores: 1e4, machineDiskBytes: 1e12 };
    expect(planCapacity(workload(full)).database.machines).toBeGreaterThan(1);
    expect(planCapacity(workload({ jobsPerDay: 1e5 })).database.machines).toBe(1);
  });
});
