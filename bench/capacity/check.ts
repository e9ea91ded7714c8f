import { ACTIVE } from '../../src/core/capacity/constants.ts';
import { type Batches, type JobCost, jobCost } from '../../src/core/capacity/job-cost.ts';
import { DEFAULT_WORKLOAD, type Workload } from '../../src/core/capacity/workload.ts';
import type { Postgres } from '../servers/postgres.ts';
import { noise } from './definitions.ts';
import { drainCost, steadyCost } from './measure.ts';

/** Runs that the constants were not made from, beside what the model predicts for them. */
export interface Checked {
  predicted: Partial<JobCost>;
  measured: Partial<JobCost>;
}

const load = (changes: Partial<Workload>): Workload => ({
  ...DEFAULT_WORKLOAD,
  jobsPerDay: 1,
  failures: 0,
  resultBytes: 4,
  isolation: 'inline',
  ...changes,
});

const LARGE: Batches = { enqueue: 1_000, perCall: 1_000, round: 500 };
const SINGLE: Batches = { enqueue: 1, perCall: 1, round: 1 };

/** Params of 2 kB, an idempotency key and two tags each, in large batches. */
export async function checkBulk(postgres: Postgres): Promise<Checked> {
  const { enqueue, work } = await drainCost(postgres, {
    key: 'inline',
    count: 10_000,
    params: () => ({ fill: noise(1_989) }),
    options: (n) => ({
      idempotencyKey: `order-${String(n).padStart(24, '0')}`,
      tags: ['nightly', `customer-${n % 100}`],
    }),
  });
  const measured = {
    serverUs: enqueue.serverUs + work.serverUs,
    workerUs: work.workerUs,
    walBytes: enqueue.walBytes + work.walBytes,
    storedBytes: enqueue.storedBytes + work.storedBytes,
  };
  const workload = load({ paramsBytes: 2_000, idempotency: 1, tags: 1 });
  return { predicted: pick(jobCost(workload, LARGE), measured), measured };
}

/** One job at a time through the API: the smallest batches. */
export async function checkSingle(postgres: Postgres, perSecond: number): Promise<Checked> {
  const { serverUs, workerUs, apiUs } = await steadyCost(postgres, {
    perSecond,
    seconds: 20,
    workers: 1,
  });
  const cost = jobCost(load({ paramsBytes: 30 }), SINGLE);
  const activeUs = (cores: number) => (cores * 1e6) / perSecond;
  const predicted = {
    serverUs: cost.serverUs + activeUs(ACTIVE.serverCores),
    workerUs: cost.workerUs + activeUs(ACTIVE.workerCores),
    apiUs: cost.apiUs + activeUs(ACTIVE.apiCores),
  };
  return { predicted, measured: { serverUs, workerUs, apiUs } };
}

function pick(cost: JobCost, like: Partial<JobCost>): Partial<JobCost> {
  const names = Object.keys(like) as (keyof JobCost)[];
  return Object.fromEntries(names.map((name) => [name, cost[name]]));
}
