import type { Adapter } from './system.ts';

export type StoreKind = 'postgres' | 'redis-everysec' | 'redis-always';

export interface SystemInfo {
  name: string;
  /** Whose figures these are when the name is a variant: `--systems` selects both by it. */
  family: string;
  adapter: () => Promise<Adapter>;
  store: StoreKind;
  settings: string;
  /** What is left of a finished job: the systems do not do the same work. */
  keeps: string;
  /** Where unfinished jobs lie: tables with a condition, or keys of Redis lists. */
  unfinished: readonly string[];
}

const longshore = async () => (await import('./longshore.ts')).adapter;
const graphile = async () => (await import('./graphile.ts')).adapter;
const pgBoss = async () => (await import('./pg-boss.ts')).adapter;
const bullmq = async () => (await import('./bullmq.ts')).adapter;

const ours = {
  family: 'longshore',
  adapter: longshore,
  store: 'postgres',
  keeps: 'everything: params, result, attempts, claim number, times',
  unfinished: ['longshore.waiting', 'longshore.running'],
} as const;

const graphiles = {
  adapter: graphile,
  store: 'postgres',
  keeps: 'nothing: deletes the finished job',
  unfinished: ['graphile_worker._private_jobs'],
} as const;

const redis = {
  adapter: bullmq,
  settings: '200 concurrent, removeOnComplete',
  keeps: 'nothing: removeOnComplete',
  unfinished: ['bull:bench:wait', 'bull:bench:active'],
} as const;

/** Longshore of another checkout. */
export const BASELINE = 'baseline';
export const SAME_PROCESS = 'longshore-same-process';

/** In the order in which tables show them. */
export const SYSTEMS: readonly SystemInfo[] = [
  { ...ours, name: 'longshore', settings: 'concurrency 500 (inline), 4 (process, fresh)' },
  { ...ours, name: BASELINE, family: BASELINE, settings: 'the checkout of --baseline' },
  { ...ours, name: SAME_PROCESS, settings: 'enqueued and run by the same process' },
  {
    ...graphiles,
    name: 'graphile',
    family: 'graphile',
    settings: '24 jobs, pool 25, no batching (its default)',
  },
  {
    ...graphiles,
    name: 'graphile-docs',
    family: 'graphile-docs',
    settings: 'the preset of its docs: 24 jobs, pool 25, localQueue 500, completeJobBatchDelay 0',
  },
  {
    ...graphiles,
    name: 'graphile-max',
    family: 'graphile-max',
    settings: '50 jobs, localQueue 2000, completeJobBatchDelay 0 (best of those tried)',
  },
  {
    name: 'pg-boss',
    family: 'pg-boss',
    adapter: pgBoss,
    store: 'postgres',
    settings: '2 fetchers × batch 1000, burstWhenBatchFull; LISTEN/NOTIFY where latency counts',
    keeps: 'the job row, updated in place',
    unfinished: ["pgboss.job where state in ('created', 'retry', 'active')"],
  },
  { ...redis, name: 'bullmq-redis', family: 'bullmq-redis', store: 'redis-everysec' },
  { ...redis, name: 'bullmq-redis-always', family: 'bullmq-redis-always', store: 'redis-always' },
  {
    name: 'bullmq-pg',
    family: 'bullmq-pg',
    adapter: bullmq,
    store: 'postgres',
    settings: '24 concurrent, pool 25, removeOnComplete',
    keeps: 'nothing: removeOnComplete',
    unfinished: ["bullmq.job where state not in ('completed', 'failed')"],
  },
];

export function systemInfo(name: string): SystemInfo {
  const info = SYSTEMS.find((system) => system.name === name);
  if (!info) throw new Error(`there is no system ${name}`);
  return info;
}
