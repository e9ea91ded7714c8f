import type { EnqueueOptions } from './client/job.ts';
import { ConfigError } from './config/error.ts';
import { configOf } from './config/options.ts';
import type { JobDefinition } from './core/define.ts';
import type { JobState } from './core/job.ts';
import { localWorker } from './local-worker.ts';
import { parseJob } from './protocol/parse-job.ts';
import { systemClock } from './runtime/clock.ts';
import { createLog, type LogLevel } from './runtime/log.ts';
import { closing, startAll, stopAll } from './runtime/service.ts';
import { Db } from './store/db.ts';
import { Inbox } from './store/inbox.ts';
import { migrate } from './store/migrate.ts';
import { Waker } from './store/wake.ts';

export interface InProcessOptions {
  databaseUrl: string;
  /** What stands before the database: 'transaction' for PgBouncer in transaction mode. */
  pooler?: 'none' | 'transaction';
  /** A file or folder of definitions, or definitions at hand (these need isolation 'inline'). */
  jobs?: string | readonly JobDefinition[];
  /** False: this process only enqueues. */
  worker?: boolean;
  concurrency?: number;
  leaseMs?: number;
  /** Where the worker also says that it is alive, to spare the database; needs the package redis. */
  redisUrl?: string;
  redisLeaseMs?: number;
  pollMs?: number;
  drainMs?: number;
  cancelGraceMs?: number;
  logMaxBytes?: number;
  runnerMaxJobs?: number;
  runnerEnv?: string;
  runnerUid?: number;
  runnerGid?: number;
  retentionDays?: number;
  deadLetterDays?: number;
  shards?: number;
  logLevel?: LogLevel;
}

export interface Receipt {
  jobId: string;
  status: JobState;
}

/** Longshore inside an application: no second process, no HTTP. */
export interface InProcess {
  enqueue<Input>(
    definition: JobDefinition<Input> | string,
    params: NoInfer<Input>,
    options?: EnqueueOptions,
  ): Promise<Receipt>;
  /** All or none, in one transaction; answers in their order. */
  enqueueMany(entries: readonly InProcessEntry[]): Promise<Receipt[]>;
  stop(): Promise<void>;
}

export interface InProcessEntry {
  definition: { key: string; version?: number } | string;
  params?: unknown;
  options?: EnqueueOptions;
}

const TENANT = 'default';

export async function createInProcess(options: InProcessOptions): Promise<InProcess> {
  const { databaseUrl, jobs } = options;
  const config = configOf(options as unknown as Record<string, unknown>, ['jobs', 'worker']);
  if (config.databaseUrl === null) {
    throw new ConfigError(['databaseUrl is missing: give the URL of a PostgreSQL database']);
  }
  const log = createLog(options.logLevel ?? 'warn');
  await migrate({ url: databaseUrl, log, shards: config.shards });
  const { pooler, shards } = config;
  const db = Db.open({ url: databaseUrl, pooler, log, shards, max: 10 });
  const waker = new Waker(databaseUrl, log, pooler);
  const settings = { ...config, databaseUrl, jobs: jobs ?? config.jobs };
  const works = options.worker ?? jobs !== undefined;
  const local = works ? localWorker(db, waker, settings, log) : null;
  // The application goes on without its worker; it can still enqueue.
  void local?.drainAsked.then(async () => await local.worker.stop());
  const services = [
    closing('pool', async () => await db.close()),
    closing('waker', async () => await waker.close()),
    ...(local?.services ?? []),
  ];
  await startAll(services);
  const inbox = new Inbox(db, waker, systemClock, local?.worker.handOver ?? null);
  const pending = new Set<Promise<unknown>>();
  const start = async (entries: readonly Loose[]): Promise<Receipt[]> => {
    const storing = inbox.start(entries.map(requestOf));
    pending.add(storing);
    try {
      return (await storing).map(({ jobId, status }) => ({ jobId, status }));
    } finally {
      pending.delete(storing);
    }
  };
  return {
    enqueue: async (definition, params, jobOptions) => {
      const [receipt] = await start([{ definition, params, options: jobOptions }]);
      if (!receipt) throw new Error('the job was not stored');
      return receipt;
    },
    enqueueMany: start,
    stop: async () => {
      // A job that is being handed over has a slot; it must not start after the worker has stopped.
      await Promise.allSettled(pending);
      await stopAll(services);
    },
  };
}

function requestOf({ definition, params, options }: Loose) {
  const { key, version } = typeof definition === 'string' ? { key: definition } : definition;
  const body: Record<string, unknown> = { definitionKey: key };
  if (version !== undefined) body['definitionVersion'] = version;
  if (params !== undefined) body['params'] = params;
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value !== undefined) body[name] = value instanceof Date ? value.toISOString() : value;
  }
  return parseJob(body, TENANT, undefined);
}
type Loose = {
  definition: { key: string; version?: number } | string;
  params?: unknown;
  options?: EnqueueOptions | undefined;
};
