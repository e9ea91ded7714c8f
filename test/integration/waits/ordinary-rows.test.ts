import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStorage } from '../../../src/artifacts/open-storage.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { LargeValues } from '../../../src/large/large-values.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { enqueueOne, request } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/**
 * A job that uses no parents, children, waits, batch, steps, streams or large values pays nothing for
 * them: it leaves no row in their tables, not even one that is gone again when it has ended. A
 * trigger counts each row that is ever inserted.
 */
const TABLES = ['edge', 'ended_watched', 'step', 'stream_chunk', 'large_value'] as const;
const LARGE = JSON.stringify({ text: 'x'.repeat(2_000_000) });

const database = sharedDatabase();
const stops: (() => Promise<unknown>)[] = [];
let large: Enqueuer;
let folder: string;

beforeAll(async () => {
  await database.sql('create table public.inserted (name text not null)');
  await database.sql(
    `create function public.count_insert() returns trigger language plpgsql as $$
     begin insert into public.inserted values (tg_argv[0]); return null; end $$`,
  );
  for (const table of TABLES) {
    await database.sql(
      `create trigger count_insert after insert on longshore.${table} for each row
       execute function public.count_insert('${table}')`,
    );
  }
  folder = await mkdtemp(join(tmpdir(), 'longshore-ordinary-'));
  const { db, waker } = database;
  const values = new LargeValues(db, await openStorage(join(folder, 'values')), 8_000_000);
  large = new Enqueuer(db, waker, systemClock, null, null, false, values);
  stops.push(async () => await rm(folder, { recursive: true }), await scheduling(database));
  for (const jobs of ['jobs', 'streaming']) {
    const { worker, stop } = workerOn(database, { jobs: join(FIXTURES, jobs) });
    await worker.start();
    stops.push(stop);
  }
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

async function inserted(): Promise<Record<string, number>> {
  const rows = await database.sql<{ name: string; count: number }>(
    'select name, count(*)::int as count from public.inserted group by name order by name',
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function run(definitionKey: string, params: unknown, more = {}): Promise<string> {
  const changes = { definitionKey, paramsJson: JSON.stringify(params), ...more };
  return (await jobEnded(database, await enqueueOne(database, changes))).status;
}

it('an ordinary job leaves no row in the tables of features that it does not use', async () => {
  expect(await run('echo', { a: 1 })).toBe('succeeded');
  expect(await run('echo', { a: 1 }, { delayMs: 50, tags: ['t'], priority: 3 })).toBe('succeeded');
  expect(await run('echo', {}, { idempotencyKey: 'k' })).toBe('succeeded');
  expect(await run('echo', {}, { concurrencyKey: 'c' })).toBe('succeeded');
  // A thrown error, and a process that ends: its attempts are stored, and retried.
  expect(await run('refuse', {})).toBe('failed');
  expect(await run('exit-early', {}, { maxAttempts: 1 })).toBe('failed');
  expect(await inserted()).toEqual({});

  // The same count sees each of these features.
  const children = [{ definition: 'echo', params: 1 }];
  expect(await run('spawns', { children })).toBe('succeeded');
  expect(await run('sleeper', { file: join(folder, 'notes') })).toBe('succeeded');
  expect(await run('count', { to: 3 })).toBe('succeeded');
  await large.start([request({ definitionKey: 'echo', paramsJson: LARGE, hold: true })]);
  const counts = await inserted();
  expect(Object.keys(counts)).toEqual(TABLES.toSorted());
  expect(counts).toMatchObject({ edge: 1, ended_watched: 1, large_value: 1 });
});
