import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Heartbeat } from '../../../src/worker/heartbeat.ts';
import type { WorkQueue } from '../../../src/worker/claim/work-queue.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { testDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

it('gives a former lease up only while it has another, also when it loses that one meanwhile', async () => {
  const database = await testDatabase();
  const queue = directQueue(postgresQueue(database.db, database.db, database.waker));
  const held = Promise.withResolvers<void>();
  const heldBy: (string | null)[] = [];
  let fences = 0;
  const slow: WorkQueue = {
    ...queue,
    shards: queue.shards,
    retire: async (shard, instance) => {
      heldBy.push(heartbeat.instance(shard));
      await held.promise;
      await queue.retire(shard, instance);
    },
  };
  const heartbeat: Heartbeat = new Heartbeat({
    queue: slow,
    longLease: null,
    clock: systemClock,
    log: silentLog,
    leaseMs: 600,
    heartbeatMs: 200,
    identity: () => ({ host: 'test', pid: 1, version: '0', slots: 1 }),
    isIdle: () => false,
    snapshot: () => new Set(),
    onAnswer: () => undefined,
    onRenewed: () => undefined,
    onFence: async () => void (fences += 1),
  });
  onTestFinished(async () => {
    held.resolve();
    await heartbeat.stop();
    await database.close();
  });
  await heartbeat.start();
  await database.sql('update longshore.worker set dead_at = now()');
  await until('the first lease is given up under the second', () => heldBy.length === 1);
  const before = fences;
  await until(
    'the second is lost meanwhile',
    () => fences > before && heartbeat.instance(0) === null,
  );
  held.resolve();
  await until('the second is given up as well', () => heldBy.length > 1);
  expect(heldBy).not.toContain(null);
});

it('counts the lease from when its renewal was sent, however late the answer arrives', async () => {
  const database = await testDatabase();
  const queue = directQueue(postgresQueue(database.db, database.db, database.waker));
  const LEASE_MS = 60_000;
  const LATE_MS = 5_000;
  let nowMs = 0;
  const ends: number[] = [];
  // The answer to each heartbeat is late.
  const slow: WorkQueue = {
    ...queue,
    shards: queue.shards,
    heartbeat: async (...call) => {
      const answer = await queue.heartbeat(...call);
      nowMs += LATE_MS;
      return answer;
    },
  };
  const heartbeat = new Heartbeat({
    queue: slow,
    longLease: null,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    log: silentLog,
    leaseMs: LEASE_MS,
    heartbeatMs: 50,
    identity: () => ({ host: 'test', pid: 1, version: '0', slots: 1 }),
    isIdle: () => false,
    snapshot: () => new Set(),
    onAnswer: () => undefined,
    onRenewed: (endMs) => ends.push(endMs),
    onFence: async () => undefined,
  });
  onTestFinished(async () => {
    await heartbeat.stop();
    await database.close();
  });
  await heartbeat.start();
  await until('two heartbeats are answered', () => ends.length >= 3);
  await heartbeat.stop();
  const ofLease = (LEASE_MS * 11) / 12;
  expect(ends.slice(0, 3)).toEqual([ofLease, ofLease, LATE_MS + ofLease]);
});

it('lets no job start once the lease may be over, before a timer has fired', async () => {
  const database = await testDatabase();
  const queue = directQueue(postgresQueue(database.db, database.db, database.waker));
  const LEASE_MS = 60_000;
  let nowMs = 0;
  const fenced: string[] = [];
  const heartbeat = new Heartbeat({
    queue,
    longLease: null,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    log: silentLog,
    leaseMs: LEASE_MS,
    heartbeatMs: 20_000,
    identity: () => ({ host: 'test', pid: 1, version: '0', slots: 1 }),
    isIdle: () => false,
    snapshot: () => new Set(),
    onAnswer: () => undefined,
    onRenewed: () => undefined,
    onFence: async (_, reason) => void fenced.push(reason),
  });
  onTestFinished(async () => {
    await heartbeat.stop();
    await database.close();
  });
  await heartbeat.start();
  const instance = heartbeat.instance(0) ?? '';
  nowMs = (LEASE_MS * 5) / 6 - 1;
  expect([heartbeat.holds(0, 'another'), heartbeat.holds(0, instance)]).toEqual([false, true]);
  // The process was stopped for a minute: no timer has fired since.
  nowMs = LEASE_MS;
  expect([heartbeat.holds(0, instance), heartbeat.instance(0)]).toEqual([false, null]);
  expect(fenced).toEqual(['the lease could not be renewed']);
});
