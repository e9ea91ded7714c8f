import { Client } from 'pg';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobIdFloor } from '../../../src/core/job/job-id.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { pruner } from '../../../src/scheduler/pruner.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { type Dropped, dropOldest, isBusy } from '../../../src/store/change/prune.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { postgresVersions, type TestDatabase } from '../../support/servers/database.ts';
import { HeldLink } from '../../support/servers/held-link.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  agedDatabase,
  dateOf,
  dropAll,
  dropPatiently,
  endedBulks,
  endedSince,
  enqueueDaysAgo,
  everything,
  partitionNames,
  runningSince,
  untilItLetsGo,
  untilPrunerAsks,
} from '../../support/old-jobs.ts';
import { expectTrueCounters } from '../../support/checks/counters.ts';
import { until } from '../../support/until.ts';

const WEEK = { retentionDays: 7, deadLetterDays: 0 };
const FAILURE = failure('NON_RETRYABLE');
const DAY_MS = 24 * 3_600_000;

describe.each(postgresVersions())('dropping history on PostgreSQL %i', (postgres) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await agedDatabase(postgres, 10);
    onTestFinished(database.close);
  });

  const status = async (id: string) => (await getJob(database.db, 'default', id))?.status;

  /** A transaction reads a job and stays open: the strong lock is not available. */
  const reader = async (): Promise<HeldLink> => {
    const link = await HeldLink.begin(database);
    await getJob(link, 'default', jobIdFloor(0));
    return link;
  };

  const untilItAsks = async () => await untilPrunerAsks(database);

  it('notices what changed between the copy and the lock', async () => {
    const revived = await endedSince(database, 10, FAILURE, { paramsJson: '"old"' });
    const finished = await endedSince(database, 10, FAILURE);
    const deleted = await endedSince(database, 10, FAILURE);
    const settled = await runningSince(database, 10);
    const failed = await runningSince(database, 10, { maxAttempts: 1 });
    const stillRuns = await runningSince(database, 10);
    const claimed = await enqueueDaysAgo(database, 10);
    const link = await reader();
    const dropping = dropPatiently(database, WEEK);
    await untilItAsks();

    await settleAs(database, settled, SUCCESS);
    await settleAs(database, failed, FAILURE);
    await claimAny(database, await newWorker(database), 1);
    const retryRequest = { mode: 'now', runAt: null } as const;
    await retryJob(database.db, 'default', revived, { ...retryRequest, paramsJson: '"new"' });
    await retryJob(database.db, 'default', finished, { ...retryRequest, paramsJson: null });
    await deleteJob(database.db, 'default', deleted);
    for (const job of await claimAny(database, await newWorker(database), 10)) {
      if (job.id === finished) await settleAs(database, job, SUCCESS);
    }
    const begun = await runningSince(database, 10);
    const arrived = await enqueueDaysAgo(database, 10);
    const before = await everything(database);
    await link.rollback();

    expect(await dropping).toMatchObject({ partition: dateOf(10) });
    expect(await everything(database)).toEqual(before);
    expect(await Promise.all([settled.id, failed.id, finished, revived].map(status))).toEqual([
      'succeeded',
      'failed',
      'succeeded',
      'running',
    ]);
    const others = [stillRuns.id, claimed, begun.id, arrived, deleted];
    expect(await Promise.all(others.map(status))).toEqual([
      'running',
      'running',
      'running',
      'queued',
      undefined,
    ]);
  });

  it('gives up when the tables stay in use, and changes nothing', async () => {
    const dead = await endedSince(database, 10, FAILURE);
    const link = await reader();
    const before = await everything(database);
    const refusal = await dropOldest(database.db, WEEK).catch((error: unknown) => error);
    expect(isBusy(refusal)).toBe(true);
    expect(await everything(database)).toEqual(before);
    // A transaction that stays open for so long is noticed before anything is copied in vain.
    const inUse = `select longshore.in_long_use('{job}') as is`;
    await until(
      'it is a long use',
      async () => (await database.sql<{ is: boolean }>(inUse))[0]?.is,
    );
    const startAt = performance.now();
    const again = await dropOldest(database.db, WEEK).catch((error: unknown) => error);
    expect(again).toMatchObject({ message: 'history is in use by a long transaction' });
    expect(isBusy(again)).toBe(true);
    expect(performance.now() - startAt).toBeLessThan(500);
    await link.rollback();
    await untilItLetsGo(database);
    expect(await dropAll(database, WEEK)).toHaveLength(3);
    expect(await status(dead)).toBe('failed');
  });

  it('loses nothing when it is killed, at whatever moment', async () => {
    for (let n = 0; n < 5; n += 1) await endedSince(database, 10, FAILURE);
    await endedSince(database, 10, SUCCESS, { endedDaysAgo: 1 });
    await runningSince(database, 10);
    const before = await everything(database);
    const names = await partitionNames(database);

    const link = await reader();
    const dropping = dropOldest(database.db, WEEK).catch((error: unknown) => error);
    const pid = await untilItAsks();
    await database.sql('select pg_terminate_backend($1)', [pid]);
    expect(await dropping).toBeInstanceOf(Error);
    await link.rollback();
    await untilItLetsGo(database);
    expect(await everything(database)).toEqual(before);

    const client = new Client({ connectionString: database.url });
    // A timeout that fires just as its statement ends is reported between two statements.
    client.on('error', () => undefined);
    await client.connect();
    onTestFinished(async () => await client.end());
    let killed = 0;
    for (let timeoutMs = 1; ; timeoutMs += 1) {
      await client.query(`set statement_timeout = ${timeoutMs}`);
      const done = await client.query('select longshore.drop_oldest(7, 0)').then(
        ({ rows }) => rows.length > 0,
        () => false,
      );
      expect(await everything(database)).toEqual(before);
      if (done) break;
      expect(await partitionNames(database)).toEqual(names);
      killed += 1;
    }
    expect(killed).toBeGreaterThan(3);
    expect(await partitionNames(database)).not.toContain(`_p${dateOf(10)}`);
  });

  it('is done by one when many begin at once', async () => {
    for (const day of [10, 9, 8]) await endedSince(database, day, FAILURE);
    const before = await everything(database);
    const dropped: (Dropped | null)[] = [];
    for (let round = 0; round < 5; round += 1) {
      const many = Array.from({ length: 6 }, async () => await dropOldest(database.db, WEEK));
      dropped.push(...(await Promise.all(many)));
    }
    const gone = dropped.flatMap((one) => one?.partition ?? []);
    expect(gone).toEqual([10, 9, 8].map(dateOf));
    expect(await everything(database)).toEqual(before);
  });

  it('does not disturb concurrent enqueues, claims, settles and reads', async () => {
    const dead = await endedSince(database, 10, FAILURE, { idempotencyKey: 'k' });
    const old = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => await enqueueDaysAgo(database, 8 + (n % 3))),
    );
    const made = new Set(old);
    const over = new AbortController();
    let repeats = 0;
    const producer = async () => {
      while (!over.signal.aborted) made.add(await enqueueOne(database));
    };
    const consumer = async () => {
      const worker = await newWorker(database);
      for (;;) {
        const jobs = await claimAny(database, worker, 3);
        if (jobs.length === 0 && over.signal.aborted) return;
        for (const job of jobs) await settleAs(database, job, SUCCESS);
      }
    };
    const onlooker = async () => {
      while (!over.signal.aborted) {
        expect(await status(dead)).toBe('failed');
        expect(await enqueueOne(database, { idempotencyKey: 'k' })).toBe(dead);
        repeats += 1;
      }
    };
    const load = [producer(), producer(), consumer(), consumer(), onlooker()];
    const gone = await dropAll(database, WEEK);
    await enqueueOne(database);
    over.abort();
    await Promise.all(load);
    expect(gone).toEqual([10, 9, 8].map(dateOf));
    expect(repeats).toBeGreaterThan(0);
    for (const id of made) expect(await status(id)).toBe('succeeded');
    expect(await database.sql('select id from longshore.running')).toEqual([]);
  });

  it('is a service that stops at once in the middle of its work', async () => {
    const dead = await endedSince(database, 10, FAILURE);
    await endedSince(database, 9, SUCCESS, { idempotencyKey: 'gone' });
    const patient = Db.open({ clock: systemClock, url: database.url, log: silentLog, max: 2 });
    onTestFinished(async () => await patient.close());
    const link = await reader();
    await endedBulks(database, [31, 29]);
    const service = pruner(patient, { ...WEEK, auditDays: 30, bulkDays: 30 }, silentLog);
    await service.start();
    await untilItAsks();
    const stopAt = performance.now();
    await service.stop();
    expect(performance.now() - stopAt).toBeLessThan(2_000);
    expect(await partitionNames(database)).toContain(`_p${dateOf(10)}`);
    await link.rollback();

    await untilItLetsGo(database);
    await service.start();
    const noKeys = async () => (await database.sql('select from longshore.dedupe')).length === 0;
    await until('the key of the dropped job is free', noKeys);
    await service.stop();
    expect(await database.sql('select from longshore.bulk')).toHaveLength(1);
    expect((await partitionNames(database))[1]).toBe(`_p${dateOf(7)}`);
    expect(await status(dead)).toBe('failed');
    await expectTrueCounters(database);
    expect(await enqueueDaysAgo(database, 0, { delayMs: DAY_MS })).toBeTruthy();
  });
});
