import { assemble, type Base } from './assemble.ts';
import { ConfigError } from '../config/error.ts';
import { configOf } from '../config/options.ts';
import type { JobDefinition } from '../core/definition/define.ts';
import { LocalJobs } from './local-jobs.ts';
import { localWorker } from './local-worker.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLog, type Log, type LogLevel } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import type { DirectStart } from '../store/enqueue/direct-start.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import { workerProcess } from './worker-child.ts';

export interface InProcessOptions {
  /** Without it Longshore starts its own PostgreSQL, with its files in `data`. */
  databaseUrl?: string | undefined;
  data?: string | undefined;
  /** What stands before the database: 'transaction' for PgBouncer in transaction mode. */
  pooler?: 'none' | 'transaction' | undefined;
  /** A file or folder of definitions, or definitions at hand (these need isolation 'inline'). */
  jobs?: string | readonly JobDefinition[] | undefined;
  /** False: this process only enqueues. */
  worker?: boolean | undefined;
  concurrency?: number | undefined;
  leaseMs?: number | undefined;
  /** Where the worker also says that it is alive, to spare the database; needs the package redis. */
  redisUrl?: string | undefined;
  redisLeaseMs?: number | undefined;
  pollMs?: number | undefined;
  ageingMs?: number | undefined;
  drainMs?: number | undefined;
  cancelGraceMs?: number | undefined;
  logMaxBytes?: number | undefined;
  runnerMaxJobs?: number | undefined;
  runnerEnv?: string | undefined;
  runnerUids?: string | undefined;
  runnerMemoryMb?: number | undefined;
  /** Networks that webhooks may reach although they are not public, such as '10.1.0.0/16'. */
  webhookAllow?: string | undefined;
  /** What params, results and checkpoints are encrypted with: `LONGSHORE_ENCRYPTION_KEYS`. */
  encryptionKeys?: string | undefined;
  /** When alerts fire, such as 'dead-letters=50,vacuum=off'. */
  alerts?: string | undefined;
  retentionDays?: number | undefined;
  deadLetterDays?: number | undefined;
  shards?: number | undefined;
  logLevel?: LogLevel | undefined;
  /** Which jobs get lines in the log: 'off' unless you say otherwise. */
  logJobs?: string | undefined;
  /** A file that the worker and the processes of jobs import to be traced. */
  tracing?: string | undefined;
}

/** Longshore inside an application: no server beside it, no HTTP. */
export class InProcess extends LocalJobs {
  /** One sentence per definition file that could not be loaded; the others run. */
  readonly problems: readonly string[];
  /** Yours, or that of the PostgreSQL it started: for `enqueueIn`, and for tables beside its own. */
  readonly databaseUrl: string;
  readonly #stop: () => Promise<void>;

  constructor(
    { db, waker, config, directStart, problems }: Base & Work,
    stop: () => Promise<void>,
  ) {
    super(db, new Enqueuer(db, waker, systemClock, directStart?.() ?? null));
    this.problems = problems();
    this.databaseUrl = config.databaseUrl;
    this.#stop = stop;
  }

  /** Lets running jobs finish, or gives them back, and closes everything. */
  async stop(): Promise<void> {
    // A job that is being handed over has a slot; it must not start after the worker has stopped.
    await this.settled();
    await this.#stop();
  }
}

export async function createInProcess(options: InProcessOptions): Promise<InProcess> {
  const { jobs, worker = jobs !== undefined } = options;
  // The log is the application's: it hears of what is wrong with us, and of its jobs if it wants to.
  const { logLevel = 'warn', logJobs = 'off' } = options;
  // Whoever embeds Longshore trusts the code: whether a job runs inside the worker is theirs to say.
  const given = { ...options, logLevel, logJobs, inlineJobs: 'always' };
  const config = configOf(given, ['jobs', 'worker']);
  if (worker && jobs !== undefined && typeof jobs !== 'string') refuseUnrunnable(jobs);
  const log = createLog(config.logLevel);
  const app = await assemble(config, { ownCluster: true, waits: false }, log, (base) => ({
    ...base,
    ...(worker ? workOf(base, jobs ?? config.jobs, log) : NO_WORK),
  }));
  return new InProcess(app.parts, app.stop);
}

interface Work {
  services: Service[];
  problems(): readonly string[];
  /** Known once the services have started. */
  directStart?(): DirectStart | null;
}

const NO_WORK: Work = { services: [], problems: () => [] };

/**
 * Files are loaded by a worker in a process of its own, as with `longshore start`: an application that
 * is busy for a minute delays no heartbeat. Code that came as values can only run where it is.
 */
function workOf({ db, waker, config }: Base, jobs: string | readonly JobDefinition[], log: Log) {
  if (typeof jobs === 'string') {
    const child = workerProcess({ ...config, jobs }, log);
    return { services: [child], problems: () => child.ready?.worker.problems ?? [] };
  }
  const { worker, services, drainAsked } = localWorker(db, waker, { ...config, jobs }, log);
  // The application goes on without its worker; it can still enqueue.
  void drainAsked.then(async () => await worker.stop());
  return { services, problems: () => [], directStart: () => worker.directStart };
}

/** Their jobs would wait for ever, and nobody would know why. */
function refuseUnrunnable(jobs: readonly JobDefinition[]): void {
  const others = jobs.filter(({ info }) => info.isolation !== 'inline');
  if (others.length === 0) return;
  throw new ConfigError(
    others.map(
      ({ key, info }) =>
        `${key} runs in a process of its own, which has to load its file: give the path of the ` +
        `file, or of its folder, as jobs${info.command ? '' : "; or say isolation: 'inline'"}`,
    ),
  );
}
