import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { localWorker } from '../../../src/app/local-worker.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { MINUTE_MS } from '../../../src/core/values/duration.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { startAll, stopAll } from '../../../src/runtime/service.ts';
import { countStatements } from '../../support/checks/count-statements.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { testDatabase } from '../../support/servers/database.ts';
import { QUICK } from '../../support/servers/quick-worker.ts';

/**
 * What a worker with its scheduler asks in a minute without jobs, with the intervals of the product. The
 * timers of this process are moved forward, so the minute takes seconds and counts the same on every
 * machine.
 */
const STEP_MS = 100;
const TIMERS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'performance',
] as const;
const INTERVALS = { pollMs: 1_000, leaseMs: 30_000, heartbeatMs: 10_000, unservedAfterMs: 60_000 };

const begun = { count: 0 };
const noop = defineJob({
  key: 'noop',
  isolation: 'inline',
  run: () => {
    begun.count += 1;
    return null;
  },
});

let stop = async () => {};
afterEach(async () => {
  await stop();
  vi.restoreAllMocks();
});

/** The most of each per minute. A change that raises a number raises it here and says why. */
const MOST: Record<string, number> = {
  // The loop of user jobs polls once a second, with one statement, that of system jobs every five.
  served_queues: 76,
  find_pending_work: 61,
  find_unserved: 21,
  // Every five seconds: what is due, by the loops that sleep until then.
  next_bulk: 13,
  next_check: 13,
  promote: 13,
  find_expired: 13,
  // Probes of the connection that listens.
  'select 1': 5,
  // Every ten seconds.
  heartbeat: 7,
  scheduler_beat: 7,
  roll_up_counters: 7,
  canary_counts: 7,
  first_limiter: 7,
  unversioned_queues: 7,
  bury_workers: 7,
  find_orphans: 7,
  // Cancels of batches whose process died.
  find_cancelled_batches: 7,
  // A round of alerts every fifteen seconds (`../store/idle-cost.test.ts`).
  find_xmin_holder: 6,
  save_alert_defaults: 5,
  list_alert_rules: 5,
  alert_defaults: 5,
  find_stopped_canaries: 5,
  find_failing_webhooks: 5,
  find_old_levels: 5,
  find_dead_queues: 5,
  find_young_retries: 5,
  find_stuck: 5,
  find_late_schedules: 5,
  find_missed_slots: 5,
  list_all_budgets: 5,
  begin: 5,
  resolve_alerts: 5,
  commit: 5,
  any_alert_notice_due: 5,
  // Once a minute or more rarely.
  forget_workers: 2,
  forget_counters: 1,
};
const MOST_OF_ALL = 341;

/** A worker with its scheduler, whose timers stand still unless time passes. */
async function start() {
  const database = await testDatabase();
  const { counts, answered } = countStatements();
  vi.useFakeTimers({ toFake: [...TIMERS] });
  const settings = { ...QUICK, ...INTERVALS, databaseUrl: database.url, jobs: [noop] };
  const { services } = localWorker(database.db, database.waker, settings, silentLog);
  await startAll(services);
  stop = async () => {
    vi.useRealTimers();
    await stopAll(services);
    await database.close();
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await vi.advanceTimersByTimeAsync(STEP_MS);
      await answered();
    }
  };
  const runOne = async () => {
    const id = await enqueueOne(database, { definitionKey: 'noop' });
    const done = async () =>
      (await database.sql('select from longshore.done where id = $1', [id])).length === 1;
    while (!(await done())) await setImmediate();
    await answered();
  };
  await answered();
  const atStart = new Set(counts.keys());
  // Its queue and its history are part of what an idle server polls.
  await pass(MINUTE_MS / 2);
  await runOne();
  await pass(MINUTE_MS / 2);
  counts.clear();
  const beginOne = async () => {
    const nth = begun.count + 1;
    const id = await enqueueOne(database, { definitionKey: 'noop' });
    while (begun.count < nth) await setImmediate();
    await answered();
    return id;
  };
  const isDone = async (id: string) =>
    (await database.sql('select from longshore.done where id = $1', [id])).length === 1;
  return { counts, atStart, pass, runOne, beginOne, isDone };
}

it('an idle minute costs the database no more statements than counted', async () => {
  const { counts, pass } = await start();
  await pass(MINUTE_MS);
  const dear = [...counts].filter(([name, count]) => count > (MOST[name] ?? 0));
  expect(dear).toEqual([]);
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(MOST_OF_ALL);
  // Else nothing was counted at all.
  expect(counts.get('find_pending_work')).toBeGreaterThan(55);
}, 60_000);

it('a job alone is three statements: one to store it, one to claim it, one to settle it', async () => {
  const { counts, pass, runOne } = await start();
  // This one reads the definitions, which are known for a second then.
  await runOne();
  await pass(STEP_MS);
  counts.clear();
  await runOne();
  const own = [...counts].filter(([name]) => !name.startsWith('select from longshore.done'));
  expect(Object.fromEntries(own)).toEqual({
    enqueue_plain: 1,
    claim_few: 1,
    settle_and_claim_few: 1,
  });
}, 60_000);

it('of jobs that come close together, one is settled with the claim of the next', async () => {
  const { counts, pass, runOne, beginOne, isDone } = await start();
  await runOne();
  counts.clear();
  const first = await beginOne();
  expect(await isDone(first)).toBe(false);
  const second = await beginOne();
  expect(await isDone(first)).toBe(true);
  // No other comes.
  await pass(STEP_MS);
  expect(await isDone(second)).toBe(true);
  const count = (name: string) => counts.get(name);
  expect(['enqueue_plain', 'claim_few', 'settle_and_claim_few'].map(count)).toEqual([2, 1, 2]);
}, 60_000);

it('a start asks what there is to do, and leaves what is not urgent for later', async () => {
  const { atStart } = await start();
  expect(atStart).toContain('find_pending_work');
  expect(atStart).toContain('promote');
  const later = [
    'bury_workers',
    'find_orphans',
    'roll_up_counters',
    'first_limiter',
    'find_unserved',
    'canary_counts',
    'find_cancelled_batches',
    'find_xmin_holder',
  ];
  expect(later.filter((name) => atStart.has(name))).toEqual([]);
}, 60_000);
