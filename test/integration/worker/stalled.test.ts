import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedDatabase } from '../../support/servers/database.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/** Jobs that are silent for longer than their stall timeout, on a worker that is alive. */

const database = sharedDatabase();
const stops: (() => Promise<void>)[] = [];
const ids = new Map<string, string>();

const SILENT = ['process', 'fresh', 'thread', 'inline', 'command'].map((kind) => `silent.${kind}`);
const WITH_SIGNS = [
  ...['process', 'fresh', 'thread', 'inline'].map((isolation) => `busy.${isolation}`),
  ...['log', 'output', 'progress', 'event', 'step'].map((sign) => `sign.${sign}`),
  'command.dots',
  'command.heartbeats',
  'spinning',
];

/** All run at the same time, because each takes seconds. */
beforeAll(async () => {
  const all = [...SILENT, ...WITH_SIGNS, 'recovering'];
  const { worker, stop } = workerOn(database, {
    jobs: join(FIXTURES, 'stalling'),
    slots: all.length,
  });
  await worker.start();
  stops.push(stop, await scheduling(database));
  for (const definitionKey of all)
    ids.set(definitionKey, await enqueueOne(database, { definitionKey }));
});

afterAll(async () => {
  for (const stop of stops) await stop();
});

const ended = async (key: string) => await jobEnded(database, ids.get(key) ?? '');

it.each(SILENT)('%s ends as STALLED', async (key) => {
  expect(await ended(key)).toMatchObject({
    status: 'failed',
    error: { code: 'STALLED', message: 'gave no sign of life for 1 s' },
  });
});

it('is retried like a timeout', async () => {
  const job = await ended('recovering');
  expect(job).toMatchObject({ status: 'succeeded', result: 'done' });
  expect(job.attempts).toBeGreaterThan(1);
});

it.each(WITH_SIGNS)('%s gives signs of life and is not ended', async (key) => {
  expect(await ended(key)).toMatchObject({ status: 'succeeded', error: null, result: 'done' });
});
