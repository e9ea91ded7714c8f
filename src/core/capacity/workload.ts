/** What a user says about the jobs to come; `longshore plan` has a flag for each. */
export interface Workload {
  jobsPerDay: number;
  /** The rate at the busiest time, as a multiple of the mean rate. */
  peak: number;
  /** How long a job runs. */
  seconds: number;
  /** CPU and memory of the user's own code, per job. */
  cpuSeconds: number;
  memoryBytes: number;
  isolation: PlanIsolation;
  /** Slots of one worker process. */
  concurrency: number;
  /** Jobs per call that enqueues. */
  batch: number;
  paramsBytes: number;
  resultBytes: number;
  retentionDays: number;
  /** Log lines of 100 bytes per job. */
  logLines: number;
  /** Shares of the jobs that use a feature, from 0 to 1. A failed attempt is retried once. */
  failures: number;
  webhooks: number;
  idempotency: number;
  unique: number;
  concurrencyLimits: number;
  delayed: number;
  tags: number;
  /** The largest PostgreSQL machine that the user would run. */
  machineCores: number;
  machineDiskBytes: number;
}

export const PLAN_ISOLATIONS = ['process', 'fresh', 'inline'] as const;
export type PlanIsolation = (typeof PLAN_ISOLATIONS)[number];

export const DEFAULT_WORKLOAD: Omit<Workload, 'jobsPerDay'> = {
  peak: 2,
  seconds: 1,
  cpuSeconds: 0,
  memoryBytes: 0,
  isolation: 'process',
  concurrency: 100,
  batch: 1,
  paramsBytes: 500,
  resultBytes: 100,
  retentionDays: 7,
  logLines: 0,
  failures: 0.01,
  webhooks: 0,
  idempotency: 0,
  unique: 0,
  concurrencyLimits: 0,
  delayed: 0,
  tags: 0,
  machineCores: 64,
  machineDiskBytes: 16e12,
};

/** The features that some jobs use, and others not. */
export const FEATURES = [
  'failures',
  'webhooks',
  'idempotency',
  'unique',
  'concurrencyLimits',
  'delayed',
  'tags',
] as const satisfies readonly (keyof Workload)[];

export type Feature = (typeof FEATURES)[number];
