import type { EnqueueOptions } from './client/job.ts';
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
  /** A file or folder of definitions, or definitions at hand (these need isolation 'inline'). */
  jobs?: string | readonly JobDefinition[];
  /** False: this process only enqueues. */
  worker?: boolean;
  concurrency?: number;
  leaseMs?: number;
  pollMs?: number;
  drainMs?: number;
  cancelGraceMs?: number;
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
  const { databaseUrl, jobs, shards = 1, leaseMs = 30_000 } = options;
  const log = createLog(options.logLevel ?? 'warn');
  await migrate({ url: databaseUrl, log, shards });
  const db = Db.open({ url: databaseUrl, log, shards, max: 10 });
  const waker = new Waker(databaseUrl, log);
  const settings = {
    databaseUrl,
    jobs: jobs ?? './jobs',
    concurrency: options.concurrency ?? 8,
    leaseMs,
    heartbeatMs: Math.floor(leaseMs / 3),
    pollMs: options.pollMs ?? 1_000,
    drainMs: options.drainMs ?? 30_000,
    cancelGraceMs: options.cancelGraceMs ?? 5_000,
    retentionDays: options.retentionDays ?? 7,
    deadLetterDays: options.deadLetterDays ?? 0,
  };
  const works = options.worker ?? jobs !== undefined;
  const local = works ? localWorker(db, waker, settings, log) : null;
  const services = [
    closing('pool', async () => await db.close()),
    closing('waker', async () => await waker.close()),
    ...(local?.services ?? []),
  ];
  await startAll(services);
  const inbox = new Inbox(db, waker, systemClock, local?.worker.handOver ?? null);
  return {
    enqueue: async (definition, params, jobOptions) => {
      const [answer] = await inbox.start([requestOf({ definition, params, options: jobOptions })]);
      if (!answer) throw new Error('the job was not stored');
      return { jobId: answer.jobId, status: answer.status };
    },
    enqueueMany: async (entries) => {
      const answers = await inbox.start(entries.map(requestOf));
      return answers.map(({ jobId, status }) => ({ jobId, status }));
    },
    stop: async () => {
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
