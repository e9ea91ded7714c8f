import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import { countStatements } from '../../support/checks/count-statements.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/** The most children of one job. */
const COUNT = 10_000;

const database = sharedDatabase();
afterEach(() => {
  vi.restoreAllMocks();
});

const double = defineJob({ key: 'double', isolation: 'inline', run: (n: number) => 2 * n });
const sum = defineJob({
  key: 'sum',
  isolation: 'inline',
  run: async ({ count }: { count: number }, ctx) => {
    const entries = Array.from({ length: count }, (_, n) => ({ definition: double, params: n }));
    await ctx.spawnMany(entries);
    const outcomes = await ctx.waitForChildren();
    const more = await ctx.spawn(double, 1).catch((error: Error) => error.message);
    return [outcomes.reduce((total, { result }) => total + Number(result), 0), more];
  },
});

it('a job waits for 10,000 children, and has no more', { timeout: 120_000 }, async () => {
  const { worker, stop } = workerOn(database, { jobs: [double, sum], slots: 50 });
  await worker.start();
  onTestFinished(stop);
  onTestFinished(await scheduling(database));
  const paramsJson = JSON.stringify({ count: COUNT });
  const id = await enqueueOne(database, { definitionKey: 'sum', paramsJson });
  const [total, more] = (await jobEnded(database, id)).result as [number, string];
  expect(total).toBe(COUNT * (COUNT - 1));
  expect(more).toContain('a job can have 10000 children');
  const open = await database.sql('select from longshore.ended_watched');
  expect(open).toEqual([]);
});

it('children are settled by the first statement that they are sent to', async () => {
  const { worker, stop } = workerOn(database, { jobs: [double, sum], slots: 50 });
  await worker.start();
  onTestFinished(stop);
  onTestFinished(await scheduling(database));
  const { counts } = countStatements();
  const paramsJson = JSON.stringify({ count: 200 });
  const id = await enqueueOne(database, { definitionKey: 'sum', paramsJson });
  expect((await jobEnded(database, id)).result).toMatchObject([200 * 199, {}]);
  expect(counts.get('settle')).toBeGreaterThan(0);
  // The short statement would refuse each child, and this one would say why.
  expect(counts.get('settlement_status')).toBeUndefined();
});
