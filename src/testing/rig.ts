import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Job } from '../client/job.ts';
import { configOf } from '../config/options.ts';
import { branded, type JobDefinition } from '../core/definition/define.ts';
import { RUN_DUE_DEFAULTS, type RunDueBudget, type RunDueSummary } from '../core/queue/run-due.ts';
import { LocalJobs } from '../app/local-jobs.ts';
import { EmbeddedPostgres } from '../postgres/embedded.ts';
import { runDue } from '../app/run-due/run-due.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLog, type LogLevel, silentLog } from '../runtime/log.ts';
import { refuseOldNode } from '../runtime/node-version.ts';
import { reaper } from '../scheduler/reaper.ts';
import { Db } from '../store/connection/db.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import { listJobs } from '../store/read/list-jobs.ts';
import { migrate } from '../store/connection/migrate.ts';
import { createScratch, type Scratch } from '../store/connection/scratch.ts';
import { Waker } from '../store/connection/wake.ts';

export interface TestRigOptions {
  /**
   * A file or folder of definitions, which run in processes as in production; or a list of
   * definitions, which run inside the test, whatever their isolation.
   */
  jobs: string | readonly JobDefinition[];
  /** A server on which the rig may create its database. By default the rig starts its own. */
  databaseUrl?: string | undefined;
  /** How many jobs run at the same time; default 1. */
  concurrency?: number | undefined;
  logLevel?: LogLevel | undefined;
}

/** Long enough that no slow machine loses a lease by accident; `loseLease` does not wait for it. */
const LEASE_MS = 60_000;
const HEARTBEAT_MS = 200;
const LOSE_TRIES = 20;
const PAGE = 200;

/**
 * Longshore for a test: a database of its own, a clock that the test controls, and no background
 * loops. Jobs wait until `drain`, which does the work of schedulers and workers with their own
 * code, and returns when nothing is due any more.
 */
export class TestRig extends LocalJobs {
  /** Its own database: for `enqueueIn`, and for the tables of the code under test. */
  readonly databaseUrl: string;
  readonly #db: Db;
  readonly #waker: Waker;
  readonly #scratch: Scratch;
  readonly #options: TestRigOptions;
  readonly #close: () => Promise<void>;

  constructor(options: TestRigOptions, scratch: Scratch, close: () => Promise<void>) {
    const db = Db.open({ clock: systemClock, url: scratch.url, log: silentLog, max: 10 });
    const waker = new Waker(scratch.url, silentLog, systemClock);
    super(db, new Enqueuer(db, waker, systemClock));
    this.databaseUrl = scratch.url;
    this.#db = db;
    this.#waker = waker;
    this.#scratch = scratch;
    this.#options = options;
    this.#close = close;
  }

  /** The time of the rig's clock. */
  async now(): Promise<Date> {
    return await this.#scratch.advance(0);
  }

  /** Advances the clock. Jobs that become due run at the next `drain`. */
  async advance(ms: number): Promise<Date> {
    if (!(ms >= 0)) throw new TypeError(`the clock goes forward only (got ${ms} ms)`);
    return await this.#scratch.advance(ms);
  }

  /** Runs everything that is due, and everything that becomes due by it, hooks included. */
  async drain(budget: Partial<RunDueBudget> = {}): Promise<RunDueSummary> {
    const { concurrency = 1, logLevel = 'silent' } = this.#options;
    const databaseUrl = this.#scratch.url;
    const config = configOf({ databaseUrl, concurrency, leaseMs: LEASE_MS, logLevel }, []);
    const settings = { ...config, databaseUrl, heartbeatMs: HEARTBEAT_MS, jobs: this.#jobs };
    const log = createLog(logLevel);
    const aheadMs = (await this.now()).getTime() - systemClock.now().getTime();
    const now = () => new Date(systemClock.now().getTime() + aheadMs);
    const clock = { ...systemClock, now };
    const all = { ...RUN_DUE_DEFAULTS, ...budget };
    return await runDue(this.#db, this.#waker, settings, log, all, { clock });
  }

  /** The jobs that were created while `work` ran, in order. */
  async during(work: () => unknown): Promise<Job[]> {
    const before = new Set((await this.jobs()).map(({ jobId }) => jobId));
    await work();
    return (await this.jobs()).filter(({ jobId }) => !before.has(jobId));
  }

  /** All jobs, oldest first. */
  async jobs(): Promise<Job[]> {
    const found: Job[] = [];
    let afterId: string | null = null;
    do {
      const page: { jobs: Job[]; nextId: string | null } = await listJobs(this.#db, {
        tenant: 'default',
        statuses: [],
        definitionKey: null,
        tag: null,
        createdAfter: null,
        createdBefore: null,
        newestFirst: false,
        afterId,
        limit: PAGE,
      });
      found.push(...page.jobs);
      afterId = page.nextId;
    } while (afterId !== null);
    return found;
  }

  /**
   * Takes a running job away from its worker, like a network outage longer than the lease: the
   * clock passes the end of the lease, the reaper declares the worker dead, and the worker notices
   * at its next heartbeat and kills its jobs. Call it during a `drain`.
   */
  async loseLease(jobId: string): Promise<void> {
    const { attempts } = await this.get(jobId);
    for (let tries = 0; tries < LOSE_TRIES; tries += 1) {
      const { status, attempts: now } = await this.get(jobId);
      if (status !== 'running' && tries === 0) {
        throw new Error(`job ${jobId} is ${status}: only a running job has a lease to lose`);
      }
      if (status !== 'running' || now !== attempts) return;
      // A heartbeat may renew the lease in between; then it is tried again.
      await this.#scratch.advance(LEASE_MS + 1);
      await this.#reap();
    }
    throw new Error(`job ${jobId} did not lose its lease`);
  }

  async stop(): Promise<void> {
    await this.settled();
    await this.#waker.close();
    await this.#db.close();
    await this.#scratch.drop();
    await this.#close();
  }

  /** One round: the first tick of a loop ends before its stop does. */
  async #reap(): Promise<void> {
    const [db, waker] = [this.#db, this.#waker];
    const round = reaper({ db, waker, clock: systemClock, pollMs: LEASE_MS, log: silentLog });
    await round.start();
    await round.stop();
  }

  get #jobs(): string | readonly JobDefinition[] {
    const { jobs } = this.#options;
    return typeof jobs === 'string' ? jobs : jobs.map(inline);
  }
}

export async function createTestRig(options: TestRigOptions): Promise<TestRig> {
  refuseOldNode();
  const server = options.databaseUrl === undefined ? await ownServer() : null;
  try {
    const scratch = await createScratch(options.databaseUrl ?? server?.url ?? '');
    await migrate({ url: scratch.url, log: silentLog, shards: 1 });
    await scratch.migrated();
    return new TestRig(options, scratch, async () => await server?.stop());
  } catch (error) {
    await server?.stop();
    throw error;
  }
}

/** Test data need not survive, so nothing waits for the disk. */
async function ownServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'longshore-test-'));
  const embedded = new EmbeddedPostgres({ dataDir, log: silentLog, unsafeForTests: true });
  const stop = async () => {
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await embedded.start();
    return { url: embedded.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function inline(definition: JobDefinition): JobDefinition {
  const { info, schema, run, hooks } = definition;
  if (info.command) {
    throw new TypeError(`${info.key} is a command: give the path of its file as the jobs`);
  }
  return branded({ info: { ...info, isolation: 'inline', memoryMb: null }, schema, run, hooks });
}
