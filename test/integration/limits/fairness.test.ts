import { beforeEach, expect, it } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import type { JobRequest } from '../../../src/core/job/new-job.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { newTenant } from '../../support/server-edge.ts';
import { clearFlow } from '../../support/limits.ts';
import { request } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';
import { workerOn } from '../../support/servers/worker.ts';
import type { WorkerOptions } from '../../../src/worker/worker.ts';

/** A real worker with one slot, so that the order in which jobs begin is the order of its claims. */
const database = sharedDatabase();

beforeEach(async () => await clearFlow(database));

const enqueue = async (name: string, count: number, changes: Partial<JobRequest>) => {
  const paramsJson = JSON.stringify({ name });
  const one = request({ definitionKey: 'shared', paramsJson, ...changes });
  await database.enqueuer.start(Array.from({ length: count }, () => one));
};

/** All of it waits before the worker starts, so that its first look finds every line. */
async function whatBegins(
  enough: (begun: readonly string[]) => boolean,
  options: Partial<WorkerOptions> = {},
): Promise<string[]> {
  const begun: string[] = [];
  const job = defineJob({
    key: 'shared',
    isolation: 'inline',
    run: async ({ name }: { name: string }) => void begun.push(name),
  });
  const { worker, stop } = workerOn(database, { jobs: [job], slots: 1, ...options });
  await worker.start();
  try {
    await until('enough have begun', () => enough(begun));
    return [...begun];
  } finally {
    await stop();
  }
}

it('a single job of another tenant begins soon, however long the line before it', async () => {
  const noise = 5_000;
  await enqueue('noise', noise, { tenant: 'a' });
  await enqueue('single', 1, { tenant: 'b' });
  // A worker with quick jobs claims some ahead, so that one claim may bring several of the noise.
  const order = await whatBegins((begun) => begun.includes('single'));
  expect(order.indexOf('single')).toBeLessThan(noise / 10);
});

it('tenants share by weight', async () => {
  await newTenant(database, 'heavy');
  await newTenant(database, 'light');
  await database.sql(`update longshore.tenant set weight = 3 where name = 'heavy'`);
  // Many times what one claim brings: a worker with quick jobs claims hundreds ahead.
  const each = 8_000;
  await enqueue('light', each, { tenant: 'light' });
  await enqueue('heavy', each, { tenant: 'heavy' });
  const order = (await whatBegins((begun) => begun.length >= each)).slice(0, each);
  const heavy = order.filter((name) => name === 'heavy').length;
  expect(heavy).toBeGreaterThan(0.6 * order.length);
  expect(heavy).toBeLessThan(0.9 * order.length);
});

it.each([
  [0, 'last, where jobs do not age'],
  [20, 'before, where they do'],
])('with ageing of %i ms what is least urgent begins %s', async (ageingMs) => {
  const urgent = 8_000;
  await enqueue('urgent', urgent, { tenant: 'a', priority: 10 });
  await enqueue('low', 1, { tenant: 'b', priority: -10 });
  const order = await whatBegins((begun) => begun.includes('low'), { ageingMs });
  // Several claims are under way at once, so that the last urgent ones may come in after it.
  const late = 0.7 * urgent;
  if (ageingMs === 0) expect(order.indexOf('low')).toBeGreaterThan(late);
  else expect(order.indexOf('low')).toBeLessThan(late);
});
