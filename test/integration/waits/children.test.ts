import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { cancelFamily } from '../../../src/store/change/cancel-children.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readLogs } from '../../../src/store/read/read-logs.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** Jobs that spawn jobs and wait for them, with real processes. */

/** Parents, children and batches are in the shards of their definitions. */
const database = sharedDatabase({ shards: 4 });
const stops: (() => Promise<void>)[] = [];
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-children-'));
  // One slot: a job that waits for its children must not hold it.
  const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, 'jobs'), slots: 1 });
  await worker.start();
  stops.push(stop, await scheduling(database));
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const start = async (definitionKey: string, params: unknown, more: Partial<JobRequest> = {}) =>
  await enqueueOne(database, { definitionKey, paramsJson: JSON.stringify(params), ...more });
const echo = (params: unknown) => ({ definition: 'echo', params });
const brittle = (fails: boolean) => ({ definition: 'brittle', params: { fails } });
const get = async (id: string) => await getJob(database.db, DEFAULT_TENANT, id);
const suspended = async (id: string) =>
  await until(`${id} is suspended`, async () => (await get(id))?.status === 'suspended');
const childrenOf = async (id: string) =>
  await database.sql<{ id: string; name: string; ended: string | null }>(
    `select on_id as id, name, ended from longshore.edge
     where job_id = $1 and kind = 'child' order by position`,
    [id],
  );
const again = { mode: 'now', runAt: null, paramsJson: null } as const;

describe('a job that spawns', () => {
  it.each(['spawns', 'spawns-inline', 'spawns-thread'])(
    'waits without a slot, and goes on with the results in order: %s',
    async (key) => {
      const children = [1, 2, 3].map(echo);
      const parent = await start(key, { children });
      expect(await jobEnded(database, parent)).toMatchObject({
        status: 'succeeded',
        attempts: 1,
        result: [
          ['succeeded', 1, null],
          ['succeeded', 2, null],
          ['succeeded', 3, null],
        ],
      });
      expect((await childrenOf(parent)).map(({ name }) => name)).toEqual(['#1', '#2', '#3']);
    },
  );

  it('says what it waits for', async () => {
    const parent = await start('spawns', {
      children: [{ definition: 'echo', options: { delayMs: 3_600_000 } }],
    });
    await suspended(parent);
    expect(await get(parent)).toMatchObject({
      waitsFor: { jobs: 'children' },
      runAt: null,
      attempts: 0,
      workerId: null,
    });
    const [child] = await childrenOf(parent);
    await cancelJob(database.db, DEFAULT_TENANT, child?.id ?? '');
    expect(await jobEnded(database, parent)).toMatchObject({
      status: 'failed',
      error: {
        code: 'CHILDREN_FAILED',
        message: `1 of 1 children did not succeed: the first, ${child?.id}, was cancelled`,
      },
    });
  });

  it('makes its children once, however often it runs', async () => {
    const file = join(folder, 'once');
    const parent = await start('spawns', { children: [1, 2].map(echo), fails: true, file });
    expect(await jobEnded(database, parent)).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(await childrenOf(parent)).toHaveLength(2);
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    // Once more if the children had not ended by then.
    expect([...new Set(lines)]).toEqual(['spawns 1', 'spawns 2', 'goes on 2']);
  });

  it('keeps the child that exists when it asks for another, and warns', async () => {
    const parent = await start('fickle', {});
    expect(await jobEnded(database, parent)).toMatchObject({ result: [true, 1] });
    const [child] = await childrenOf(parent);
    const page = await readLogs(database.db, DEFAULT_TENANT, parent, {
      afterId: null,
      attempt: 2,
      limit: 10,
    });
    const warning = `the child #1 exists as job ${child?.id} with another definition or other params`;
    expect(page?.logs.map(({ message }) => message).join('\n')).toContain(warning);
  });

  it('waits again for later children, and for the same as before', async () => {
    const parent = await start('two-phases', {});
    expect(await jobEnded(database, parent)).toMatchObject({ result: [2, [1, 2, [1], [2]]] });
    const names = (await childrenOf(parent)).map(({ name }) => name);
    expect(names).toEqual(['#1', 'two', '#2', '#3']);
  });

  it('gets the outcomes of those that did not succeed, thrown or returned', async () => {
    const children = [echo(1), brittle(true)];
    const thrown = await start('careful-parent', { children });
    const returned = await start('spawns', { children, onFailure: 'return' });
    const uncaught = await start('spawns', { children });
    expect((await jobEnded(database, thrown)).result).toEqual([
      expect.stringMatching(
        /^1 of 2 children did not succeed: the first, .*, failed \(HANDLER_ERROR\)$/,
      ),
      ['succeeded', 'failed'],
    ]);
    expect((await jobEnded(database, returned)).result).toEqual([
      ['succeeded', 1, null],
      ['failed', null, 'HANDLER_ERROR'],
    ]);
    expect(await jobEnded(database, uncaught)).toMatchObject({
      status: 'failed',
      attempts: 1,
      error: { code: 'CHILDREN_FAILED' },
    });
  });

  it('has children that have children', async () => {
    const inner = { definition: 'spawns', params: { children: [echo('deep')] } };
    const parent = await start('spawns', { children: [inner, echo('flat')] });
    expect((await jobEnded(database, parent)).result).toEqual([
      ['succeeded', [['succeeded', 'deep', null]], null],
      ['succeeded', 'flat', null],
    ]);
  });

  it('goes on at once without children', async () => {
    const parent = await start('spawns', { children: [] });
    expect(await jobEnded(database, parent)).toMatchObject({ status: 'succeeded', result: [] });
  });

  it('stores 1200 children in several parts', async () => {
    const children = Array.from({ length: 1_200 }, (_, at) => ({
      definition: 'echo',
      params: at,
      options: { delayMs: 3_600_000 },
    }));
    const parent = await start('spawns', { children });
    await suspended(parent);
    const stored = await childrenOf(parent);
    expect(stored.map(({ name }) => name)).toEqual(children.map((_, at) => `#${at + 1}`));
    await cancelJob(database.db, DEFAULT_TENANT, parent);
  });
});

describe('a child is refused like any job', () => {
  it.each([
    ['an unknown option', { definition: 'echo', options: { prio: 1 } }, /did you mean "priority"/],
    ['a key', { definition: 'echo', options: { idempotencyKey: 'a' } }, /unknown option of spawn/],
    [
      'a bad option',
      { definition: 'echo', options: { priority: 'high' } },
      /^spawn: child #1 \/priority/,
    ],
    [
      'params that do not fit',
      { definition: 'approval', params: { file: 1 } },
      /^spawn: child #1 \/params\/file/,
    ],
    [
      'params that are too large',
      { definition: 'echo', params: 'x'.repeat(131_072) },
      /limit is 131072/,
    ],
  ])('%s', async (_what, child, message) => {
    const parent = await start('careful-parent', { children: [child] }, { skipValidation: true });
    const ended = await jobEnded(database, parent);
    expect(ended.result ?? ended.error?.message).toMatch(message);
    expect(await childrenOf(parent)).toEqual([]);
  });
});

describe('a retry by hand', () => {
  it('of a failed child and then of its parent waits for the child again', async () => {
    const parent = await start('spawns', { children: [brittle(true), echo(1)] });
    await jobEnded(database, parent);
    const [child] = await childrenOf(parent);
    const fixed = { ...again, paramsJson: '{"fails":false}' };
    await retryJob(database.db, DEFAULT_TENANT, child?.id ?? '', fixed);
    await retryJob(database.db, DEFAULT_TENANT, parent, again);
    await until('it has succeeded', async () => (await get(parent))?.status === 'succeeded');
    expect((await get(parent))?.result).toEqual([
      ['succeeded', 'fine', null],
      ['succeeded', 1, null],
    ]);
    expect(await childrenOf(parent)).toHaveLength(2);
  });

  it('with reset forgets the children', async () => {
    const parent = await start('spawns', { children: [echo(1)] });
    await jobEnded(database, parent);
    const failed = await start('spawns', { children: [brittle(true)] });
    await jobEnded(database, failed);
    const [before] = await childrenOf(failed);
    await retryJob(database.db, DEFAULT_TENANT, failed, { ...again, mode: 'reset' });
    await until('it failed again', async () => (await get(failed))?.status === 'failed');
    const after = await childrenOf(failed);
    expect(after).toHaveLength(1);
    expect(after[0]?.id).not.toBe(before?.id);
    expect(await childrenOf(parent)).toHaveLength(1);
  });
});

describe('a cancel', () => {
  const later = (definition: string, params?: unknown) => ({
    definition,
    params,
    options: { delayMs: 3_600_000 },
  });

  it('of a parent leaves its children, unless they are asked for, down to the last', async () => {
    const inner = { definition: 'spawns', params: { children: [later('echo')] } };
    const parent = await start('spawns', { children: [inner, later('echo')] });
    await suspended(parent);
    const [child, other] = await childrenOf(parent);
    await suspended(child?.id ?? '');
    await cancelJob(database.db, DEFAULT_TENANT, parent);
    expect((await get(child?.id ?? ''))?.status).toBe('suspended');
    const by = { name: 'cli', address: null };
    const cancelled = { kind: 'changed', status: 'cancelled' };
    expect(await cancelFamily(database.db, DEFAULT_TENANT, parent, by)).toEqual(cancelled);
    const [deep] = await childrenOf(child?.id ?? '');
    for (const id of [child?.id, other?.id, deep?.id]) {
      expect((await get(id ?? ''))?.status).toBe('cancelled');
    }
    // An entry for each level and shard.
    const entries = await database.sql(
      `select distinct actor, sum((after ->> 'jobs')::int) over ()::int as jobs
       from longshore.audit where action = 'job.cancel_children' and subject = $1`,
      [parent],
    );
    expect(entries).toEqual([{ actor: 'cli', jobs: 3 }]);
    expect(await cancelFamily(database.db, DEFAULT_TENANT, parent)).toEqual({
      kind: 'refused',
      status: 'cancelled',
    });
  });
});
