import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readAttempts } from '../../../src/store/read/read-attempts.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { apiOn, remoteWorker } from '../../support/servers/remote.ts';
import { jobBegun, jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Queued jobs that run in groups, with real processes. */

const database = databasePerTest();
const jobs = join(FIXTURES, 'groups');
let gate: string;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-groups-'));
  gate = join(folder, 'gate');
  onTestFinished(async () => await rm(folder, { recursive: true }));
  onTestFinished(await scheduling(database));
});

async function serve(slots = 10, log = silentLog): Promise<() => Promise<void>> {
  const { worker, stop } = workerOn(database, { jobs, slots, cancelGraceMs: 10, log });
  await worker.start();
  expect(worker.report.problems).toEqual([]);
  let stopping: Promise<void> | undefined;
  const once = async () => await (stopping ??= stop());
  onTestFinished(once);
  return once;
}

const start = async (params: unknown, definitionKey = 'grouped') =>
  await enqueueOne(database, { definitionKey, paramsJson: JSON.stringify(params) });

const startAll = async (count: number, more: object = {}, key = 'grouped') =>
  await Promise.all(
    Array.from({ length: count }, async (_, n) => await start({ n, ...more }, key)),
  );

const ended = async (ids: readonly string[]) =>
  await Promise.all(ids.map(async (id) => await jobEnded(database, id)));

const begun = async (ids: readonly string[]) =>
  await Promise.all(ids.map(async (id) => await jobBegun(database, id)));

/** The process of the group that runs: its code has written it beside the gate. */
const pidOfGroup = async () =>
  await until('the group has started', () => {
    const file = `${gate}.pid`;
    return existsSync(file) && Number(readFileSync(file, 'utf8'));
  });

describe('a group', () => {
  it('runs many jobs in one call, each with its own result', async () => {
    const ids = await startAll(4);
    await serve();
    const all = await ended(ids);
    const results = all.map(({ result }) => result as { pid: number; size: number; n: number });
    expect(results.map(({ n, size }) => [n, size])).toEqual([0, 1, 2, 3].map((n) => [n, 4]));
    expect(new Set(results.map(({ pid }) => pid)).size).toBe(1);
    // What the code printed is in the log of the first item.
    const logs = await database.sql('select distinct job_id from longshore.log_chunk');
    expect(logs).toEqual([{ job_id: ids.toSorted()[0] }]);
    expect(all.every(({ attempts, status }) => attempts === 1 && status === 'succeeded')).toBe(
      true,
    );
  });

  it('is smaller than its size on a worker with fewer slots, which says so once', async () => {
    const said: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void said.push(line) });
    const ids = await startAll(4);
    await serve(2, log);
    const all = await ended(ids);
    expect(all.map(({ result }) => (result as { size: number }).size)).toEqual([2, 2, 2, 2]);
    const ofGrouped = said.filter((line) => line.includes('"grouped@1"'));
    expect(ofGrouped).toHaveLength(1);
    expect(ofGrouped[0]).toContain(
      'grouped: size is 4, this worker has 2 slots: groups have at most 2 jobs; set --concurrency 4',
    );
  });

  it('starts without its size when the first job has waited', async () => {
    await serve();
    const [job] = await ended([await start({ n: 1 })]);
    expect(job).toMatchObject({ status: 'succeeded', result: { size: 1 } });
  });

  it('retries a failed item alone', async () => {
    await serve();
    const ids = [await start({ n: -1 }), await start({ n: 5 })];
    const [failed, fine] = await ended(ids);
    expect(fine).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(failed).toMatchObject({ status: 'succeeded', attempts: 2 });
    const attempts = await readAttempts(database.db, DEFAULT_TENANT, ids[0] ?? '');
    expect(attempts?.map(({ error }) => error?.message ?? null)).toEqual(['negative', null]);
  });

  it.each(['grouped.inline', 'grouped.thread'])('works with %s', async (key) => {
    const ids = await startAll(3, {}, key);
    await serve();
    expect((await ended(ids)).map(({ result }) => result)).toEqual(ids.map(() => ({ size: 3 })));
  });

  it('works over HTTP', async () => {
    const server = await apiOn(database);
    const { worker, stop } = remoteWorker(server.url, { jobs, slots: 10 });
    onTestFinished(async () => {
      await stop();
      await server.close();
    });
    const ids = await startAll(4);
    await worker.start();
    const sizes = (await ended(ids)).map(({ result }) => (result as { size: number }).size);
    expect(sizes).toEqual([4, 4, 4, 4]);
  });

  it('does not wait when no slot is free, and holds back nothing', async () => {
    await serve(2);
    const ids = await startAll(2, {}, 'grouped.patient');
    expect((await ended(ids)).map(({ result }) => result)).toEqual([{ size: 2 }, { size: 2 }]);
    expect(await jobEnded(database, await start({}, 'alone'))).toMatchObject({ result: 'ran' });
  });

  it('returns jobs that wait for others when its worker stops, without an attempt', async () => {
    const stop = await serve();
    const ids = await startAll(3, {}, 'grouped.patient');
    await begun(ids);
    await stop();
    for (const id of ids) {
      expect(await getJob(database.db, DEFAULT_TENANT, id)).toMatchObject({
        status: 'queued',
        attempts: 0,
        workerId: null,
      });
    }
  });
});

describe('in a group that runs', () => {
  it('one item is cancelled and the others go on', async () => {
    const ids = await startAll(4, { gate });
    await serve();
    await pidOfGroup();
    await cancelJob(database.db, DEFAULT_TENANT, ids[1] ?? '');
    await until('the group goes on', () => existsSync(`${gate}.went-on`));
    await writeFile(gate, '');
    expect((await ended(ids)).map(({ status }) => status)).toEqual([
      'succeeded',
      'cancelled',
      'succeeded',
      'succeeded',
    ]);
  });

  it('a killed process is a crash of every item, and each is retried', async () => {
    const ids = await startAll(4, { gate });
    await serve();
    process.kill(await pidOfGroup(), 'SIGKILL');
    await until('every item has crashed', async () => {
      const all = await Promise.all(
        ids.map(async (id) => await readAttempts(database.db, DEFAULT_TENANT, id)),
      );
      return all.every((attempts) => attempts?.[0]?.error?.code === 'CRASHED');
    });
    await writeFile(gate, '');
    const all = await ended(ids);
    expect(all.map(({ status, attempts }) => [status, attempts])).toEqual(
      ids.map(() => ['succeeded', 2]),
    );
  });

  it('items that run out of time end with the process', async () => {
    await serve();
    const ids = await startAll(2, {}, 'grouped.deaf');
    const all = await ended(ids);
    expect(all.map(({ status, error }) => [status, error?.code])).toEqual([
      ['failed', 'TIMEOUT'],
      ['failed', 'TIMEOUT'],
    ]);
  });

  it('a drain interrupts all items, without an attempt', async () => {
    const ids = await startAll(4, { gate });
    const stop = await serve();
    await pidOfGroup();
    await stop();
    for (const id of ids) {
      const job = await getJob(database.db, DEFAULT_TENANT, id);
      expect(job).toMatchObject({ status: 'queued', attempts: 0 });
    }
  });
});
