import { API, BASE, FEATURE_COSTS, ISOLATION_US, LOG, ROUNDS, VALUES } from './constants.ts';
import { FEATURES, type Workload } from './workload.ts';

/** What one job costs: microseconds of CPU by process, bytes of WAL, and bytes on disk. */
export interface JobCost {
  serverUs: number;
  workerUs: number;
  apiUs: number;
  walBytes: number;
  storedBytes: number;
}

/** How many jobs share a statement and its commit. */
export interface Batches {
  /** Jobs per statement that enqueues, and jobs per request. */
  enqueue: number;
  perCall: number;
  /** Jobs per round of a worker; a job needs two rounds, to be claimed and to be settled. */
  round: number;
}

export const NOTHING: JobCost = {
  serverUs: 0,
  workerUs: 0,
  apiUs: 0,
  walBytes: 0,
  storedBytes: 0,
};

export function added(...costs: readonly Partial<JobCost>[]): JobCost {
  const sum = { ...NOTHING };
  for (const cost of costs) {
    for (const name of Object.keys(sum) as (keyof JobCost)[]) sum[name] += cost[name] ?? 0;
  }
  return sum;
}

export function times(cost: Partial<JobCost>, factor: number): JobCost {
  const names = Object.keys(NOTHING) as (keyof JobCost)[];
  return Object.fromEntries(
    names.map((name) => [name, (cost[name] ?? 0) * factor]),
  ) as unknown as JobCost;
}

/** The parts of the cost of a mean job, by name: their sum is the cost. */
export function costParts(workload: Workload, batches: Batches): Record<string, JobCost> {
  const { isolation, paramsBytes, resultBytes, logLines } = workload;
  return {
    base: added(BASE, { apiUs: API.jobUs }),
    commits: added(
      times(ROUNDS.enqueue, 1 / Math.max(1, batches.enqueue)),
      times(ROUNDS.work, 2 / Math.max(1, batches.round)),
      { apiUs: API.callUs / Math.max(1, batches.perCall) },
    ),
    params: valueCost(paramsBytes),
    result: valueCost(resultBytes),
    isolation: added({ workerUs: ISOLATION_US[isolation] }),
    logs: logLines === 0 ? NOTHING : added(LOG.job, times(LOG.line, logLines)),
    ...Object.fromEntries(
      FEATURES.map((name) => [name, times(FEATURE_COSTS[name], workload[name])]),
    ),
  };
}

export function jobCost(workload: Workload, batches: Batches): JobCost {
  return added(...Object.values(costParts(workload, batches)));
}

/** Between two measured sizes the cost is a straight line; above the largest it goes on. */
export function valueCost(bytes: number): JobCost {
  const after = VALUES.findIndex((one) => one.bytes >= bytes);
  const at = after === -1 ? VALUES.length - 1 : Math.max(1, after);
  const [from, to] = [VALUES[at - 1], VALUES[at]];
  if (!from || !to) return NOTHING;
  const share = (bytes - from.bytes) / (to.bytes - from.bytes);
  return added(times(from, 1 - share), times(to, share));
}
