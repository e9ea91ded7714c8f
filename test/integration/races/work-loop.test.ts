import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { defineJob, NonRetryable } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { registerWorker } from '../../../src/store/workers/workers.ts';
import type { Outbox } from '../../../src/worker/attempt/outbox.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { Levels } from '../../../src/worker/claim/levels.ts';
import type { WorkerStore } from '../../../src/worker/claim/port.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import type { Round, ShardQueue, WorkQueue } from '../../../src/worker/claim/work-queue.ts';
import { enqueueOne, request } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** When a worker begins a round, and what it knows then. */
const database = sharedDatabase();

const store = () => postgresQueue(database.db, database.db, database.waker);

/** A queue whose shards are changed. */
function withShards(queue: WorkQueue, change: (shard: ShardQueue) => void): WorkQueue {
  return {
    ...queue,
    shardQueue: (...args) => {
      const shard = queue.shardQueue(...args);
      change(shard);
      return shard;
    },
  };
}

it('a poll does not delay work that is known', async () => {
  const asked = { withWork: 0, before: 0 };
  let rounds = 0;
  const queue = withShards(directQueue(store()), (shard) => {
    const { round, refresh } = shard;
    Object.assign(shard, {
      round: async (...args: Parameters<typeof round>) => {
        rounds += 1;
        // The loop knows a moment later that it has ended.
        return await round(...args).finally(() => void setImmediate().then(() => (rounds -= 1)));
      },
      refresh: async () => {
        if (shard.hasWork) asked.withWork += 1;
        if (shard.hasWork && rounds === 0) asked.before += 1;
        await refresh.call(shard);
      },
    });
  });
  const jobs = [defineJob({ key: 'known', isolation: 'inline', run: () => null })];
  const { worker, stop } = workerOn(database, { jobs, queue });
  onTestFinished(stop);
  await worker.start();
  for (let n = 0; n < 20; n += 1) {
    const id = await enqueueOne(database, { definitionKey: 'known' });
    await jobEnded(database, id);
    await until('no round is left', () => rounds === 0);
    await setImmediate();
  }
  expect(asked.withWork).toBeGreaterThan(0);
  expect(asked.before).toBe(0);
});

it('a success that waits for the next claim does not wait for a poll', async () => {
  const polled = { calls: 0, held: 0 };
  const joined = { rounds: 0 };
  let outbox: Outbox | undefined;
  let rounds = 0;
  const queue = withShards(directQueue(store()), (shard) => {
    const { round, refresh } = shard;
    Object.assign(shard, {
      round: async (about: Round) => {
        outbox = about.outbox as Outbox;
        if (about.batch.length > 0 && about.limit > 0) joined.rounds += 1;
        rounds += 1;
        return await round(about).finally(() => void setImmediate().then(() => (rounds -= 1)));
      },
      refresh: async () => {
        polled.calls += 1;
        if (rounds === 0 && outbox && outbox.countPlain(0) > 0) polled.held += 1;
        await refresh.call(shard);
      },
    });
  });
  let ran = 0;
  const run = () => (ran += 1);
  const jobs = [defineJob({ key: 'close', isolation: 'inline', run })];
  // Time is slow, so that on a slow machine, too, the jobs come close together.
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 20 };
  const { worker, stop } = workerOn(database, { jobs, queue, clock });
  onTestFinished(stop);
  await worker.start();
  for (let n = 1; n <= 20; n += 1) {
    await enqueueOne(database, { definitionKey: 'close' });
    await until('it has run', () => ran === n);
    await until('no round is left', () => rounds === 0);
  }
  expect(joined.rounds).toBeGreaterThan(0);
  expect(polled.calls).toBeGreaterThan(0);
  expect(polled.held).toBe(0);
});

/** Levels of one definition, and a claim of one job that waits for `gate` before it is answered. */
async function claiming(key: string) {
  const gate = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  const real = store();
  const queue: WorkerStore = {
    ...real,
    claim: async (...args) => {
      const jobs = await real.claim(...args);
      claimed.resolve();
      await gate.promise;
      return jobs;
    },
  };
  const instance = randomUUID();
  const worker = { instance, host: 'here', pid: 1, version: '1', slots: 9, leaseMs: 60_000 };
  await registerWorker(database.db, 0, worker);
  const list = [definitionInfo({ key }, { paramsSchema: null })];
  await queue.publish(list);
  const levels = new Levels(0, queue, { list }, systemClock, 60_000);
  const ids = [await enqueueOne(database, { definitionKey: key })];
  await levels.pollIfDue();
  const jobs = levels.claim(levels.next().plain, 5, instance);
  await claimed.promise;
  ids.push(await enqueueOne(database, { definitionKey: key }));
  levels.pollSoon();
  await levels.pollIfDue();
  gate.resolve();
  expect((await jobs).map(({ id }) => id)).toEqual(ids.slice(0, 1));
  return { levels, instance, ids };
}

it('a claim that ends after a poll neither forgets nor hides what the poll has found', async () => {
  const { levels, instance, ids } = await claiming('late');
  const { plain } = levels.next();
  expect(plain.levels).toMatchObject([{ floor: 0 }]);
  const jobs = await levels.claim(plain, 5, instance);
  expect(jobs.map(({ id }) => id)).toEqual(ids.slice(1));
});

it('a busy worker collects failures, and writes them all', async () => {
  const sizes: number[] = [];
  const real = store();
  const queue = directQueue({
    ...real,
    settle: async (shard, settlements) => {
      sizes.push(settlements.length);
      return await real.settle(shard, settlements);
    },
  });
  const run = ({ fails }: { fails: boolean }) => {
    if (fails) throw new NonRetryable('always');
  };
  const jobs = [defineJob({ key: 'mixed', isolation: 'inline', run })];
  const all = Array.from({ length: 6_000 }, (_, n) =>
    request({ definitionKey: 'mixed', paramsJson: JSON.stringify({ fails: n % 100 === 50 }) }),
  );
  await database.enqueuer.start(all);
  // Time is slow, so that on a slow machine, too, they are collected by number.
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 20 };
  const { worker, stop } = workerOn(database, { jobs, queue, clock, slots: 100 });
  onTestFinished(stop);
  await worker.start();
  await until('all have ended', async () => {
    const [row] = await database.sql<{ ended: number }>(
      `select count(*)::int as ended from longshore.done d
       join longshore.queue q using (shard, queue) where q.key = 'mixed'`,
    );
    return row?.ended === all.length;
  });
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(60);
  // By 25, and what is left whenever nothing else was under way.
  expect(sizes.length).toBeLessThan(12);
}, 60_000);
