import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localWorker } from '../../../src/app/local-worker.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { homeShard } from '../../../src/core/queue/shard.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { type Service, startAll, stopAll } from '../../../src/runtime/service.ts';
import { DatabaseUnavailable } from '../../../src/store/connection/db.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { type BreakableShard, breakableShard } from '../../support/broken-shard.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { QUICK } from '../../support/servers/quick-worker.ts';
import { jobEnded } from '../../support/servers/worker.ts';

/** One of three shards fails or hangs, for reads and writes. What a whole process does then. */
const SHARDS = 3;
const BROKEN = 1;
const MODES = ['fail', 'hang'] as const;

const keyIn = (shard: number) => {
  for (let n = 0; ; n += 1) {
    const key = `job-${n}`;
    if (homeShard('default', key, SHARDS) === shard) return key;
  }
};
const KEYS = [keyIn(0), keyIn(1), keyIn(2)];
const keyOf = (shard: number) => KEYS[shard] ?? '';

let database: TestDatabase;
let obstacle: BreakableShard;
let services: Service[] = [];

beforeEach(async () => {
  database = await testDatabase({ shards: SHARDS });
  obstacle = await breakableShard(database, BROKEN);
});
afterEach(async () => {
  await obstacle.mend();
  await stopAll(services);
  services = [];
  await database.close();
});

const enqueueIn = async (shard: number, more = {}) =>
  await enqueueOne(database, { definitionKey: keyOf(shard), ...more });

it('the product can neither read nor write rows of a broken shard; the test can', async () => {
  const id = await enqueueIn(BROKEN);
  await obstacle.breakIt('fail');
  await expect(getJob(database.db, 'default', id)).rejects.toThrow(DatabaseUnavailable);
  await expect(enqueueIn(BROKEN)).rejects.toThrow(DatabaseUnavailable);
  expect(await database.sql('select from longshore.waiting where id = $1', [id])).toHaveLength(1);
});

it('a shard that hangs leaves connections to the others', async () => {
  const hung = await enqueueIn(BROKEN);
  const healthy = await enqueueIn(0);
  await obstacle.breakIt('hang');
  let settled = 0;
  // More than there are connections.
  const calls = Array.from({ length: 40 }, async () => {
    await getJob(database.db, 'default', hung).catch(() => undefined);
    settled += 1;
  });
  expect(await getJob(database.db, 'default', healthy)).toMatchObject({ status: 'queued' });
  expect(settled).toBe(0);
  await obstacle.mend();
  await Promise.all(calls);
});

it('a job with a key is stored while one in another shard waits for its own', async () => {
  await enqueueIn(BROKEN, { idempotencyKey: 'first' });
  await obstacle.breakIt('hang');
  let settled = false;
  const hung = enqueueIn(BROKEN, { idempotencyKey: 'first' }).finally(() => (settled = true));
  await enqueueIn(0, { idempotencyKey: 'other' });
  expect(settled).toBe(false);
  await obstacle.mend();
  await hung;
});

describe.each(MODES)('a shard that is to %s', (how) => {
  const start = async () => {
    const jobs = KEYS.map((key) =>
      defineJob({
        key,
        isolation: 'inline',
        concurrencyLimit: SHARDS,
        schedule: { name: 'yearly', cron: '0 0 1 1 *' },
        run: () => 1,
      }),
    );
    const times = { leaseMs: 10_000, heartbeatMs: 1_000 };
    const settings = { ...QUICK, ...times, databaseUrl: database.url, jobs };
    services = localWorker(database.db, database.waker, settings, silentLog).services;
    await startAll(services);
  };

  it('keeps a worker with limits and schedules neither from starting nor from its work', async () => {
    // The limits and schedules exist there already, with rows that cannot be read.
    await start();
    const id = await enqueueIn(BROKEN);
    await jobEnded(database, id);
    await stopAll(services);
    await obstacle.breakIt(how);
    const waits = await database.sql<{ n: number }>(
      'select count(*)::int as n from longshore.limiter where shard = $1',
      [BROKEN],
    );
    expect(waits[0]?.n).toBeGreaterThan(0);
    await start();
    for (const shard of [0, 2]) {
      expect(await jobEnded(database, await enqueueIn(shard))).toMatchObject({
        status: 'succeeded',
      });
    }
    await obstacle.mend();
    expect(await jobEnded(database, await enqueueIn(BROKEN))).toMatchObject({
      status: 'succeeded',
    });
  });

  it('delays neither other followers of ended jobs nor what is due', async () => {
    const follower = async (shard: number, parent: string) =>
      await enqueueIn(shard, { after: { jobs: [parent], onFailure: 'fail' } });
    const parents = [await enqueueIn(0), await enqueueIn(0)];
    const hung = await follower(BROKEN, parents[0] ?? '');
    const healthy = await follower(2, parents[1] ?? '');
    const due = await enqueueIn(0, { delayMs: 3_000 });
    await obstacle.breakIt(how);
    await start();
    for (const id of [...parents, healthy, due]) {
      expect(await jobEnded(database, id)).toMatchObject({ status: 'succeeded' });
    }
    await obstacle.mend();
    expect(await jobEnded(database, hung)).toMatchObject({ status: 'succeeded' });
  });
});
