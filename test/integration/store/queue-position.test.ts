import { afterEach, expect, it } from 'vitest';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, loseLease, newWorker, settleAs } from '../../support/jobs.ts';

/** Whose wait was over once does not wait for the whole line again. */

const database = sharedDatabase();
afterEach(async () => {
  await database.sql('truncate longshore.waiting, longshore.running, longshore.worker');
});

it.each([
  ['whose worker is lost', async (worker: string) => await loseLease(database, worker)],
  [
    'that is interrupted by a stop',
    async (_: string, [job]: Awaited<ReturnType<typeof claimAny>>) => {
      if (job) await settleAs(database, job, { kind: 'interrupted', message: 'a deploy' });
    },
  ],
])('a job %s goes before those that were enqueued after it', async (_, take) => {
  const ids = [await enqueueOne(database)];
  const worker = await newWorker(database);
  const claimed = await claimAny(database, worker, 1);
  for (let more = 0; more < 3; more += 1) ids.push(await enqueueOne(database));
  await take(worker, claimed);
  const next = await claimAny(database, await newWorker(database), 10);
  expect(next.map(({ id }) => id)).toEqual(ids);
  // And once more: it keeps its place however often that happens.
  const [first] = next;
  if (first) await settleAs(database, first, { kind: 'lost', message: 'gone' });
  const younger = await enqueueOne(database);
  const last = await claimAny(database, await newWorker(database), 10);
  expect(last.map(({ id }) => id)).toEqual([ids[0], younger]);
});

it('the query of docs/internals.md shows what restricts a job', async () => {
  const [block] = blocksOf('docs/internals.md', 'sql');
  const id = await enqueueOne(database);
  const rows = await database.sql((block?.text ?? '').replace('…', id).replace(';', ''));
  expect(rows).toMatchObject([{ id, state: 'queued', paused_at: null, plain: true, in_use: null }]);
});
