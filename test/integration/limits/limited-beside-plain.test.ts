import { expect, it, onTestFinished } from 'vitest';
import { defineJob } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { request } from '../../support/jobs.ts';
import { clearFlow } from '../../support/limits.ts';
import { sharedDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/**
 * What a worker does with a limited queue beside plain ones that always have work. A change that raises a
 * number raises it here and says why.
 */
const database = sharedDatabase();

const LIMIT = 10;
const PLAIN = ['plain-1', 'plain-2', 'plain-3', 'plain-4'];

/** The calls of the worker in the order of their answers; claims that brought nothing are left out. */
type Call =
  { call: 'plain'; jobs: number } | { call: 'settle' | 'claim'; jobs: number; begun: number };

/** Calls of a worker, until `enough`. */
async function callsOf(
  from: TestDatabase,
  options: { slots: number; limit?: number; ageingMs?: number },
  enough: (begun: readonly string[]) => boolean,
) {
  const reserved = Db.open({ clock: systemClock, url: from.url, log: silentLog, max: 1 });
  const queue = postgresQueue(from.db, reserved, from.waker);
  const calls: Call[] = [];
  const begun: string[] = [];
  let plainClaims = 0;
  const limited = new Set<string>();
  const run = ({ name }: { name: string }) => void begun.push(name);
  const { slots, limit = LIMIT, ageingMs = 0 } = options;
  const { worker, stop } = workerOn(from, {
    jobs: [
      defineJob({ key: 'limited', isolation: 'inline', concurrencyLimit: limit, run }),
      ...PLAIN.map((key) => defineJob({ key, isolation: 'inline', run })),
    ],
    slots,
    ageingMs,
    pollMs: 60_000,
    queue: directQueue({
      ...queue,
      settle: async (shard, settlements) => {
        const settled = await queue.settle(shard, settlements);
        const jobs = settlements.filter(({ id }) => limited.has(id)).length;
        if (jobs > 0) calls.push({ call: 'settle', jobs, begun: plainClaims });
        return settled;
      },
      settleAndClaim: async (shard, batch) => {
        if (batch.limit > 0) plainClaims += 1;
        return await queue.settleAndClaim(shard, batch);
      },
      claim: async (shard, most, instance, levels) => {
        plainClaims += 1;
        return await queue.claim(shard, most, instance, levels);
      },
      claimLimited: async (shard, most, instance, levels) => {
        const atStart = plainClaims;
        const claimed = await queue.claimLimited(shard, most, instance, levels);
        for (const { id } of claimed.jobs) limited.add(id);
        calls.push({ call: 'claim', jobs: claimed.jobs.length, begun: atStart });
        return claimed;
      },
    }),
  });
  onTestFinished(async () => {
    await stop();
    await reserved.close();
    await clearFlow(from);
  });
  await worker.start();
  await until('enough have begun', () => enough(begun));
  return { calls, begun };
}

async function enqueue(name: string, count: number, changes: Parameters<typeof request>[0] = {}) {
  const paramsJson = JSON.stringify({ name });
  const one = request({ definitionKey: name, paramsJson, ...changes });
  await database.enqueuer.start(Array.from({ length: count }, () => one));
}

const isLimited = (name: string) => name === 'limited';

it('claims limited jobs as soon as their permits are back, whatever plain queues have', async () => {
  for (const key of PLAIN) await enqueue(key, 6_000);
  await enqueue('limited', 100);
  const all = (begun: readonly string[]) => begun.filter(isLimited).length === 100;
  const { calls } = await callsOf(database, { slots: 100 }, all);
  const claims = calls.filter(({ call, jobs }) => call === 'claim' && jobs > 0);
  // Ten, and one for each time that a part of ten ended before the rest.
  expect(claims.length).toBeLessThanOrEqual(20);
  expect(calls.filter(({ call }) => call === 'settle').length).toBeLessThanOrEqual(20);
  const settles = calls.flatMap((one, n) => (one.call === 'settle' ? [n] : []));
  const late = settles.slice(0, -1).filter((n) => {
    const next = calls.slice(n).find(({ call }) => call === 'claim');
    const [settled] = calls.slice(n, n + 1);
    return settled?.call !== 'settle' || next?.call !== 'claim' || next.begun > settled.begun;
  });
  // Of ten, nine or ten were late: each time three plain claims were begun before.
  expect(late.length).toBeLessThanOrEqual(settles.length / 3);
});

it.each([1, 10])('of %i slots, the limited queue leaves those of other tenants', async (slots) => {
  const each = 4_000;
  await enqueue('limited', each, { tenant: 'a' });
  await enqueue('plain-1', each, { tenant: 'b' });
  const some = (all: readonly string[]) => all.length >= each;
  const { begun } = await callsOf(database, { slots, limit: slots }, some);
  const plain = begun.slice(0, each).filter((name) => !isLimited(name)).length;
  expect(plain).toBeGreaterThan(0.3 * each);
});

it('a more urgent plain queue comes before permits that are back', async () => {
  await enqueue('limited', 2_000);
  await enqueue('plain-1', 4_000, { priority: 10 });
  const all = (begun: readonly string[]) => begun.length === 6_000;
  const { begun } = await callsOf(database, { slots: 10 }, all);
  // What is claimed ahead when the urgent jobs come to their end may begin before the last of them.
  const early = begun.slice(0, 3_000).filter(isLimited).length;
  expect(early).toBe(0);
});

it('a queue that has aged gets slots beside permits that are back', async () => {
  await enqueue('limited', 3_000, { priority: 10 });
  await enqueue('plain-1', 1);
  const all = (begun: readonly string[]) => begun.includes('plain-1');
  const options = { slots: 1, limit: 1, ageingMs: 20 };
  const { begun } = await callsOf(database, options, all);
  expect(begun.indexOf('plain-1')).toBeLessThan(2_000);
});
