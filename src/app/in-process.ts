import { assemble, type Base } from './assemble.ts';
import { configOf } from '../config/options.ts';
import type { JobDefinition } from '../core/definition/define.ts';
import { LocalJobs } from './local-jobs.ts';
import { localValues } from './values/local-values.ts';
import { localWorker } from './local-worker.ts';
import { refuseUnrunnable } from './refuse-unrunnable.ts';
import type { LargeValues } from '../large/large-values.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLog, type Log, type LogLevel } from '../runtime/log.ts';
import { refuseOldNode } from '../runtime/node-version.ts';
import { addMissing } from '../runtime/older-node.ts';
import type { Service } from '../runtime/service.ts';
import { stopAtSignals } from '../runtime/stop-at-signals.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import { WorkerDeaths } from './workers/worker-deaths.ts';
import { workerProcess } from './worker-child.ts';

export interface InProcessOptions {
  /** Without it, Longshore starts its own PostgreSQL, with its files in `data`. */
  databaseUrl?: string | undefined;
  data?: string | undefined;
  /** The connection pooler: 'transaction' for PgBouncer in transaction mode. */
  pooler?: 'none' | 'transaction' | undefined;
  /** A file or folder of definitions, or a list of definitions (these need isolation 'inline'). */
  jobs?: string | readonly JobDefinition[] | undefined;
  /** False: this process only enqueues. */
  worker?: boolean | undefined;
  concurrency?: number | undefined;
  leaseMs?: number | undefined;
  /** The Redis for worker heartbeats, to spare the database; needs the package redis. */
  redisUrl?: string | undefined;
  redisLeaseMs?: number | undefined;
  pollMs?: number | undefined;
  ageingMs?: number | undefined;
  drainMs?: number | undefined;
  cancelGraceMs?: number | undefined;
  logMaxBytes?: number | undefined;
  streamMaxBytes?: number | undefined;
  /** Larger params and results, up to this size, go to the storage `artifacts`; 0 (default): none. */
  largeValuesMaxBytes?: number | undefined;
  /** A folder or `s3://…`: `LONGSHORE_ARTIFACTS`. */
  artifacts?: string | undefined;
  runnerMaxJobs?: number | undefined;
  runnerEnv?: string | undefined;
  runnerUids?: string | undefined;
  runnerMemoryMb?: number | undefined;
  /** Private networks that webhooks may reach, such as '10.1.0.0/16'. */
  webhookAllow?: string | undefined;
  /** The keys that encrypt params, results and checkpoints: `LONGSHORE_ENCRYPTION_KEYS`. */
  encryptionKeys?: string | undefined;
  /** When alerts fire, such as 'dead-letters=50,vacuum=off'. */
  alerts?: string | undefined;
  /** For alerts by e-mail: `LONGSHORE_SMTP_URL`, `LONGSHORE_ALERT_FROM`. */
  smtpUrl?: string | undefined;
  alertFrom?: string | undefined;
  /** Where people reach a dashboard, for links in messages. */
  publicUrl?: string | undefined;
  retentionDays?: number | undefined;
  deadLetterDays?: number | undefined;
  shards?: number | undefined;
  logLevel?: LogLevel | undefined;
  /** Which jobs get log lines; 'off' by default. */
  logJobs?: string | undefined;
  /** A file that the worker and the job processes import to set up tracing. */
  tracing?: string | undefined;
}

/** Longshore inside an application: without a server and HTTP. */
export class InProcess extends LocalJobs {
  /** One message per definition file that could not be loaded; the others run. */
  readonly problems: readonly string[];
  /**
   * The given URL, or that of the embedded PostgreSQL: for `enqueueIn` and tables of the
   * application.
   */
  readonly databaseUrl: string;
  readonly #stop: () => Promise<void>;

  constructor({ db, waker, config, problems, large }: Parts, stop: () => Promise<void>) {
    super(db, new Enqueuer(db, waker, systemClock, null, null, false, large), large);
    this.problems = problems();
    this.databaseUrl = config.databaseUrl;
    this.#stop = stop;
  }

  /** Lets running jobs finish or releases them, and closes everything. */
  async stop(): Promise<void> {
    // Calls in progress get their answers before the database is closed.
    await this.settled();
    await this.#stop();
  }
}

export async function createInProcess(options: InProcessOptions): Promise<InProcess> {
  const { jobs, worker = jobs !== undefined } = options;
  if (worker) refuseOldNode();
  else addMissing();
  // The log belongs to the application: by default it gets warnings only and no lines about jobs.
  const { logLevel = 'warn', logJobs = 'off' } = options;
  // The application trusts its own code, so it decides whether jobs run inline.
  const given = { ...options, logLevel, logJobs, inlineJobs: 'always' };
  const config = configOf(given, ['jobs', 'worker']);
  if (worker && jobs !== undefined && typeof jobs !== 'string') refuseUnrunnable(jobs);
  const log = createLog(config.logLevel);
  const app = await assemble(config, { ownCluster: true, waits: false }, log, (base) => {
    const work = worker ? workOf(base, jobs ?? config.jobs, log) : NO_WORK;
    const { large, ...values } = localValues(base.db, config, log);
    const stores = [values.closing, ...(worker ? [values.collecting] : [])];
    return { ...base, ...work, large, services: [...stores, ...work.services] };
  });
  if (config.databaseUrl !== null) return new InProcess(app.parts, app.stop);
  const own: InProcess = new InProcess(app.parts, async () => {
    forget();
    await app.stop();
  });
  const forget = stopAtSignals(async () => await own.stop());
  return own;
}

type Parts = Base & Work & { large: LargeValues };

interface Work {
  services: Service[];
  problems(): readonly string[];
}

const NO_WORK: Work = { services: [], problems: () => [] };

/**
 * Files are loaded by a worker process, as with `longshore start`, so a busy application delays no
 * heartbeat. Definitions passed as values can only run in this process.
 */
function workOf({ db, waker, config }: Base, jobs: string | readonly JobDefinition[], log: Log) {
  if (typeof jobs === 'string') {
    const deaths = new WorkerDeaths(db, log);
    const note: WorkerDeaths['note'] = (death) => deaths.note(death);
    const child = workerProcess({ ...config, jobs }, log, 'worker', note);
    return { services: [deaths, child], problems: () => child.ready?.worker.problems ?? [] };
  }
  const { worker, services, drainAsked } = localWorker(db, waker, { ...config, jobs }, log);
  // The application continues without its worker; it can still enqueue.
  void drainAsked.then(async () => await worker.stop());
  return { services, problems: () => [] };
}
