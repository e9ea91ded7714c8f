import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import type { OnParentFailure } from '../../../src/core/dependency/dependency.ts';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Jobs that wait for other jobs, with real processes. */

/** Parents, children and batches are in the shards of their definitions. */
const database = sharedDatabase({ shards: 4 });
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  // One slot: a job that waits must not hold it.
  const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, 'jobs'), slots: 1 });
  await worker.start();
  stops.push(stop, await scheduling(database));
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const start = async (definitionKey: string, params: unknown, more: Partial<JobRequest> = {}) =>
  await enqueueOne(database, { definitionKey, paramsJson: JSON.stringify(params), ...more });

const after = (jobs: readonly string[], onFailure: OnParentFailure = 'fail') => ({
  after: { jobs, onFailure },
});

const held = async (fails = false) =>
  await start(fails ? 'brittle' : 'echo', fails ? { fails } : 'parent', { hold: true });

const release = async (id: string) =>
  await database.sql(
    `update longshore.waiting set state = 'queued', queued_at = now(), seq = 1 where id = $1`,
    [id],
  );

const statusOf = async (id: string) => (await getJob(database.db, DEFAULT_TENANT, id))?.status;
const retry = async (id: string, params?: unknown) =>
  await retryJob(database.db, DEFAULT_TENANT, id, {
    mode: 'now',
    runAt: null,
    paramsJson: params === undefined ? null : JSON.stringify(params),
  });

describe('a job after others', () => {
  it('is suspended without a slot, and runs with their results in the given order', async () => {
    const first = await held();
    const second = await start('echo', 2);
    await jobEnded(database, second);
    const child = await start('gather', {}, after([first, second]));
    expect(await getJob(database.db, DEFAULT_TENANT, child)).toMatchObject({
      status: 'suspended',
      waitsFor: { jobs: 'parents' },
      runAt: null,
      queuedAt: null,
    });
    await jobEnded(database, await start('echo', 'another'));
    expect(await statusOf(child)).toBe('suspended');
    await release(first);
    expect(await jobEnded(database, child)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      result: [
        ['succeeded', 'parent', null],
        ['succeeded', 2, null],
      ],
      waitsFor: null,
    });
  });

  it('runs at once after jobs that have ended', async () => {
    const parent = await start('echo', 1);
    await jobEnded(database, parent);
    const child = await start('gather', {}, after([parent]));
    expect(await jobEnded(database, child)).toMatchObject({ status: 'succeeded' });
  });

  it('fails when a parent fails, and so do the jobs after it', async () => {
    const parent = await held(true);
    const open = await held();
    const child = await start('gather', {}, after([open, parent]));
    const grandchild = await start('gather', {}, after([child]));
    await release(parent);
    const error = { code: 'PARENT_FAILED' };
    expect(await jobEnded(database, child)).toMatchObject({ status: 'failed', attempts: 0, error });
    const ended = await jobEnded(database, grandchild);
    expect(ended.error?.message).toBe(`its parent ${child} failed`);
    await cancelJob(database.db, DEFAULT_TENANT, open);
  });

  it.each<[OnParentFailure, unknown]>([
    ['run', { status: 'succeeded', result: [['failed', null, 'HANDLER_ERROR']] }],
    ['cancel', { status: 'cancelled', error: null }],
    ['fail', { status: 'failed', error: { code: 'PARENT_FAILED' } }],
  ])('does what the caller asked for if a parent fails: %s', async (onFailure, expected) => {
    const parent = await held(true);
    const child = await start('gather', {}, after([parent], onFailure));
    await release(parent);
    expect(await jobEnded(database, child)).toMatchObject(expected as object);
  });

  it('ends with a parent that is cancelled', async () => {
    const parent = await held();
    const child = await start('gather', {}, after([parent]));
    await cancelJob(database.db, DEFAULT_TENANT, parent);
    expect((await jobEnded(database, child)).error?.message).toBe(
      `its parent ${parent} was cancelled`,
    );
  });

  it('expires, and can be cancelled, while it waits', async () => {
    const parent = await held();
    const expiresAt = new Date(Date.now() + 150);
    const expiring = await start('gather', {}, { ...after([parent]), expiresAt });
    const cancelled = await start('gather', {}, after([parent]));
    expect(await jobEnded(database, expiring)).toMatchObject({ error: { code: 'EXPIRED' } });
    expect(await cancelJob(database.db, DEFAULT_TENANT, cancelled)).toMatchObject({
      status: 'cancelled',
    });
    await release(parent);
    await jobEnded(database, parent);
    expect(await statusOf(cancelled)).toBe('cancelled');
  });

  it('is stored once for one key, and refused after jobs that there are not', async () => {
    const parent = await held();
    const once = { ...after([parent]), idempotencyKey: 'child' };
    const child = await start('gather', {}, once);
    expect(await start('gather', {}, once)).toBe(child);
    await release(parent);
    expect(await jobEnded(database, child)).toMatchObject({ status: 'succeeded' });
    await deleteJob(database.db, DEFAULT_TENANT, parent);
    expect(await start('gather', {}, once)).toBe(child);
    await expect(start('gather', {}, after([child, parent]))).rejects.toMatchObject({
      name: 'ParentUnknown',
      index: 0,
      position: 1,
    });
    const [edges] = await database.sql<{ n: number }>(
      'select count(*)::int as n from longshore.edge where on_id = $1',
      [parent],
    );
    expect(edges?.n).toBe(1);
    await expect(start('gather', {}, { ...after([child]), tenant: 'other' })).rejects.toMatchObject(
      { name: 'ParentUnknown' },
    );
  });

  it('still knows how a deleted parent ended', async () => {
    const parent = await start('echo', 1);
    await jobEnded(database, parent);
    const other = await held();
    const child = await start('gather', {}, after([parent, other]));
    await until('the end is noted', async () => {
      const [edge] = await database.sql<{ ended: string | null }>(
        'select ended from longshore.edge where on_id = $1',
        [parent],
      );
      return edge?.ended === 'succeeded';
    });
    await deleteJob(database.db, DEFAULT_TENANT, parent);
    await release(other);
    expect((await jobEnded(database, child)).result).toEqual([
      ['succeeded', null, null],
      ['succeeded', 'parent', null],
    ]);
  });
});

describe('a retry by hand', () => {
  it('of a failed parent revives what failed because of it, down to the last', async () => {
    const parent = await held(true);
    const child = await start('gather', {}, after([parent]));
    const grandchild = await start('gather', {}, after([child]));
    await release(parent);
    await jobEnded(database, grandchild);
    expect(await retry(grandchild)).toEqual({ kind: 'parent', id: child });
    expect(await retry(parent, { fails: false })).toMatchObject({ kind: 'changed' });
    await until('all have succeeded', async () => (await statusOf(grandchild)) === 'succeeded');
    expect(await getJob(database.db, DEFAULT_TENANT, child)).toMatchObject({
      status: 'succeeded',
      result: [['succeeded', 'fine', null]],
    });
  });

  it('revives nothing while another parent is failed', async () => {
    const [one, two] = [await held(true), await held(true)];
    const child = await start('gather', {}, after([one, two]));
    await release(one);
    await release(two);
    await jobEnded(database, one);
    await jobEnded(database, two);
    await until('both are noted', async () => {
      const open = await database.sql(
        'select from longshore.edge where job_id = $1 and ended is null',
        [child],
      );
      return open.length === 0;
    });
    await retry(one, { fails: false });
    await until('the first succeeds', async () => (await statusOf(one)) === 'succeeded');
    expect(await statusOf(child)).toBe('failed');
    await retry(two, { fails: false });
    await until('the child succeeds', async () => (await statusOf(child)) === 'succeeded');
  });

  it('of a cancelled child waits for its parents again', async () => {
    const parent = await held();
    const child = await start('gather', {}, after([parent]));
    await cancelJob(database.db, DEFAULT_TENANT, child);
    expect(await retry(child)).toEqual({ kind: 'changed', status: 'suspended' });
    await release(parent);
    expect(await jobEnded(database, child)).toMatchObject({ status: 'succeeded' });
  });
});
