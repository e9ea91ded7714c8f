import type { JobCost } from './job-cost.ts';
import type { Feature, PlanIsolation } from './workload.ts';

/**
 * What `npm run capacity` measured on 2026-11-18: 2 × AMD EPYC, 24 GB, Node 24.21, PostgreSQL 18.4 with its
 * defaults and 256 MB of shared buffers, one shard. Other work took most of the machine, so its times of
 * CPU are rounded up. Bytes are counted, not timed. `docs/operate/capacity.md` compares predictions with
 * measured runs.
 */

type Cost = Partial<JobCost>;

/** A plain job without params, in the largest batches: enqueued, claimed and settled. */
export const BASE: Cost = { serverUs: 50, workerUs: 30, walBytes: 1_351, storedBytes: 347 };

/** What a statement costs besides its jobs: one that enqueues, and one round of a worker. */
export const ROUNDS = {
  enqueue: { serverUs: 490, apiUs: 890, walBytes: 280 },
  work: { serverUs: 305, workerUs: 265, walBytes: 215 },
} satisfies Record<string, Cost>;

/** How long such a statement takes: jobs that come meanwhile share the next one. */
export const ROUND_SECONDS = 0.004;

/** CPU of `longshore api`, per job and per request. */
export const API = { jobUs: 12, callUs: 150 };

/**
 * Params or a result of so many bytes that do not compress. From about 2 kB on, PostgreSQL stores them
 * outside the row.
 */
export const VALUES: readonly ({ bytes: number } & Cost)[] = [
  { bytes: 0, serverUs: 0, workerUs: 0, walBytes: 0, storedBytes: 0 },
  { bytes: 500, serverUs: 8, workerUs: 2, walBytes: 540, storedBytes: 512 },
  { bytes: 1_000, serverUs: 12, workerUs: 2, walBytes: 1_040, storedBytes: 1_095 },
  { bytes: 1_900, serverUs: 25, workerUs: 4, walBytes: 1_870, storedBytes: 1_970 },
  { bytes: 2_000, serverUs: 35, workerUs: 5, walBytes: 2_330, storedBytes: 2_795 },
  { bytes: 2_100, serverUs: 40, workerUs: 6, walBytes: 2_430, storedBytes: 2_800 },
  { bytes: 3_000, serverUs: 45, workerUs: 9, walBytes: 3_260, storedBytes: 4_160 },
  { bytes: 4_000, serverUs: 60, workerUs: 12, walBytes: 4_480, storedBytes: 5_550 },
  { bytes: 8_000, serverUs: 125, workerUs: 30, walBytes: 8_690, storedBytes: 8_380 },
  { bytes: 20_000, serverUs: 370, workerUs: 82, walBytes: 21_600, storedBytes: 22_100 },
  { bytes: 100_000, serverUs: 2_280, workerUs: 380, walBytes: 109_000, storedBytes: 105_000 },
];

/** CPU of the worker and the processes of its jobs, besides that of a job inside the worker. */
export const ISOLATION_US: Record<PlanIsolation, number> = {
  inline: 0,
  process: 190,
  fresh: 56_000,
};

/** The first line of a job, and each line of 100 bytes. */
export const LOG = {
  job: { serverUs: 18, workerUs: 5, walBytes: 455, storedBytes: 235 },
  line: { serverUs: 2, workerUs: 30, walBytes: 67, storedBytes: 74 },
} satisfies Record<string, Cost>;

/** A job that uses the feature costs so much more. */
export const FEATURE_COSTS: Record<Feature, Cost> = {
  failures: { serverUs: 200, workerUs: 170, walBytes: 2_910, storedBytes: 1_435 },
  webhooks: { serverUs: 2_200, workerUs: 1_600, walBytes: 3_950, storedBytes: 2_180 },
  idempotency: { serverUs: 22, walBytes: 460, storedBytes: 332 },
  unique: { serverUs: 28, walBytes: 462, storedBytes: 390 },
  concurrencyLimits: { serverUs: 28, workerUs: 9, walBytes: 40 },
  delayed: { serverUs: 45, workerUs: 8, walBytes: 440 },
  tags: { serverUs: 20, walBytes: 268, storedBytes: 117 },
};

/** What a process takes besides its jobs as soon as it has some: polls, hints, heartbeats, counters. */
export const ACTIVE = { workerCores: 0.052, serverCores: 0.04, apiCores: 0.03 };

/** A worker process, and what each of its slots adds. */
export const MEMORY = {
  workerBytes: 160e6,
  slotBytes: { inline: 100e3, process: 14e6, fresh: 45e6 } satisfies Record<PlanIsolation, number>,
};

/** A row of `waiting` or `running` with its indexes. */
export const LIVE_ROW_BYTES = 230;

/** Of one process, worker or API. */
export const CONNECTIONS = 15;
