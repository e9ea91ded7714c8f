import { localSpawner } from '../../../src/app/local-queue.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { stopAll } from '../../../src/runtime/service.ts';
import { promoter } from '../../../src/scheduler/promoter.ts';
import { reaper } from '../../../src/scheduler/reaper.ts';
import type { LargeValues } from '../../../src/large/large-values.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import type { WorkerStore } from '../../../src/worker/claim/port.ts';
import { Worker, type WorkerOptions } from '../../../src/worker/worker.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import { CACHED } from '../compile-cache.ts';
import type { TestDatabase } from './database.ts';
import { until } from '../until.ts';

export interface TestWorker {
  worker: Worker;
  stop(): Promise<void>;
}

/** What workers of tests have in common. */
export const SHORT_TIMES = {
  host: 'test',
  pid: process.pid,
  version: '0',
  slots: 3,
  leaseMs: 10_000,
  heartbeatMs: 500,
  pollMs: 200,
  drainMs: 5_000,
  cancelGraceMs: 1_000,
  logMaxBytes: 1_000_000,
  clock: systemClock,
  log: silentLog,
  ...CACHED,
};

/** The queue of a worker that may spawn without limits. */
export function testQueue(
  { db, waker }: TestDatabase,
  reserved: Db,
  large?: LargeValues,
): WorkerStore {
  return postgresQueue(db, reserved, waker, localSpawner(db, waker, {}, large), large);
}

/** A real worker on a test database, with short times. Nothing but what it is given is changed. */
export function workerOn(
  database: TestDatabase,
  changes: Partial<WorkerOptions> & Pick<WorkerOptions, 'jobs'>,
): TestWorker {
  const reserved = Db.open({ clock: systemClock, url: database.url, log: silentLog, max: 1 });
  const worker = new Worker({
    queue: directQueue(testQueue(database, reserved)),
    databaseUrl: database.url,
    ...SHORT_TIMES,
    ...changes,
  });
  return {
    worker,
    stop: async () => {
      await worker.stop();
      await reserved.close();
    },
  };
}

/** What keeps jobs moving that no worker holds. */
export async function scheduling({ db, waker }: TestDatabase): Promise<() => Promise<void>> {
  const services = [
    promoter(db, waker, 100, silentLog),
    reaper({ db, waker, clock: systemClock, pollMs: 100, log: silentLog }),
  ];
  for (const service of services) await service.start();
  return async () => await stopAll(services);
}

export async function jobEnded({ db }: TestDatabase, jobId: string): Promise<JobView> {
  return await until(`job ${jobId} has ended`, async () => {
    const job = await getJob(db, 'default', jobId);
    return job?.finishedAt ? job : null;
  });
}

export async function jobBegun({ db }: TestDatabase, jobId: string): Promise<JobView> {
  return await until(`job ${jobId} runs`, async () => {
    const job = await getJob(db, 'default', jobId);
    return job?.status === 'running' ? job : null;
  });
}
