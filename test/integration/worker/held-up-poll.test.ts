import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { Link } from '../../../chaos/world/link.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { Worker } from '../../../src/worker/worker.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

/** A worker whose way to the database can be held up, and that never hears a hint. */

const HELD_UP_MS = 2_000;
const POLL_MS = 50;

const database = sharedDatabase();
let link: Link;
let db: Db;
let reserved: Db;
let worker: Worker;

beforeAll(async () => {
  link = new Link('worker', 'postgres', () => 0);
  await link.open();
  link.targetPort = Number(new URL(database.url).port);
  const through = new URL(database.url);
  through.port = `${link.port}`;
  db = Db.open({ clock: systemClock, url: through.href, log: silentLog });
  reserved = Db.open({ clock: systemClock, url: through.href, log: silentLog, max: 1 });
  link.setWeather({ kind: 'blackhole' }, isListener);
  worker = new Worker({
    queue: directQueue(postgresQueue(db, reserved, database.waker)),
    databaseUrl: through.href,
    jobs: join(FIXTURES, 'jobs'),
    host: 'test',
    pid: process.pid,
    version: '0',
    slots: 1,
    leaseMs: 60_000,
    heartbeatMs: 1_000,
    pollMs: POLL_MS,
    drainMs: 1_000,
    cancelGraceMs: 1_000,
    logMaxBytes: 1_000_000,
    clock: systemClock,
    log: silentLog,
  });
  await worker.start();
});

afterAll(async () => {
  link.clear();
  await worker.stop();
  await reserved.close();
  await db.close();
  await link.close();
});

function isListener(application: string): boolean {
  return application === 'longshore listen';
}

async function enqueueEcho(): Promise<string> {
  return await enqueueOne(database, { definitionKey: 'echo' });
}

async function ended(id: string, patienceMs = 60_000): Promise<void> {
  const isEnded = async () => (await getJob(database.db, 'default', id))?.status === 'succeeded';
  await until('the job has ended', isEnded, patienceMs);
}

it('goes on polling as before when a look was held up', async () => {
  await ended(await enqueueEcho());
  const heldUp = new Promise((resolve) => {
    link.armStall({ statements: ['served_queues'], onSprung: resolve });
  });
  await heldUp;
  const found = await enqueueEcho();
  await new Promise((resolve) => setTimeout(resolve, HELD_UP_MS));
  link.setWeather({ kind: 'blackhole' }, isListener);
  // The look that was held up finds this one. The next one needs a look of its own, which once was
  // put off for twenty times as long as the last one took.
  await ended(found);
  await ended(await enqueueEcho(), 10 * HELD_UP_MS);
});
