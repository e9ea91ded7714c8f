import { expect, it, onTestFinished } from 'vitest';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import type { Quotas } from '../../../src/enqueue/quotas.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { request } from '../../support/jobs.ts';
import { databasePerTest } from '../../support/servers/database.ts';

const database = databasePerTest();

it('a database that fails between the checks and the jobs of a batch leaves no rejection that ends the process', async () => {
  const unhandled: unknown[] = [];
  const listen = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', listen);
  onTestFinished(() => void process.off('unhandledRejection', listen));

  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const quotas = {
    permitJobs: async () => {
      nowMs += 60_000;
      await database.sql('alter table longshore.definition rename to gone');
    },
  };
  const enqueuer = new Enqueuer(database.db, database.waker, clock, quotas as unknown as Quotas);
  await expect(enqueuer.start([request(), request()])).rejects.toThrow('longshore.definition');
  // Node reports them after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});
