import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/job/lifecycle.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { cancelJobs } from '../../../src/store/change/cancel-jobs.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { findLevels } from '../../support/checks/find-levels.ts';
import { claimLimited } from '../../../src/store/claim/limited-claim.ts';
import { changeLimits } from '../../../src/store/limits/limits.ts';
import { pause, resume } from '../../../src/store/limits/pauses.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { SWEEP_START, sweepLimiters } from '../../../src/store/limits/sweep-limiters.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { expectNoDrift, publish } from '../../support/limits.ts';
import { failure, newWorker, request, settleAs, SUCCESS } from '../../support/jobs.ts';
import { expectTrueCounters } from '../../support/checks/counters.ts';
import { until } from '../../support/until.ts';

/**
 * The limiters under everything that touches them at once, as fast as it goes: claims, outcomes of every
 * kind, cancels, retries by hand, changes of limits, pauses, sweeps. Seen from outside, no limit is ever
 * exceeded; no job waits for ever; and in the end every counter is back at zero.
 */
const CLAIMERS = 6;
const JOBS = 450;
const LIMITS = { one: 3, tenant: 5, key: 2 };

const database = sharedDatabase();

const outcomes: Outcome[] = [
  SUCCESS,
  SUCCESS,
  failure('HANDLER_ERROR', 'again', 0),
  { kind: 'lost', message: 'gone' },
  { kind: 'snoozed', delayMs: 0 },
  { kind: 'unstarted' },
];

const oneOf = <T>(items: readonly T[]): T => {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
};

const RETRIES = 60;
const RETRY = { mode: 'reset', runAt: null, paramsJson: null } as const;
const CANCELLED = `
  select d.id, l.tenant from longshore.done d join longshore.queue l using (shard, queue)
  where d.state = 'cancelled' order by random() limit 1`;

const SNAPSHOT = `
  select (count(*) filter (where l.key = 'one'))::int as one,
    (count(*) filter (where l.tenant = 'a'))::int as tenant,
    coalesce((select max(n) from (
      select count(*)::int as n from longshore.running k join longshore.queue j using (shard, queue)
      where k.key_limiter is not null and j.key = 'one' group by k.key_limiter
    ) g), 0) as key
  from longshore.running r join longshore.queue l using (shard, queue)`;

it('keeps every limit and loses no token', { timeout: 240_000 }, async () => {
  const { db, enqueuer, sql } = database;
  await publish(database, 'one', {
    concurrencyLimit: LIMITS.one,
    concurrencyKeyLimit: LIMITS.key,
  });
  await publish(database, 'two');
  await changeLimits(db, 'tenant', 'a', { concurrencyLimit: LIMITS.tenant }, null);
  const answers = await enqueuer.start(
    Array.from({ length: JOBS }, (_, n) =>
      request({
        tenant: n % 4 === 0 ? 'b' : 'a',
        definitionKey: n % 2 === 0 ? 'one' : 'two',
        concurrencyKey: n % 3 === 0 ? null : `key ${n % 5}`,
        priority: n % 7 === 0 ? 1 : 0,
        maxAttempts: 1_000,
      }),
    ),
  );
  const queues = (await sql<{ queue: number }>('select queue from longshore.queue')).map(
    ({ queue }) => queue,
  );
  const most = { one: 0, tenant: 0, key: 0 };
  const over = new AbortController();
  let retried = 0;

  const claims = async () => {
    const worker = await newWorker(database);
    let mine: ClaimedJob[] = [];
    while (!over.signal.aborted) {
      const lines = (await findLevels(db, 0, queues)).map((line) => ({
        ...line,
        floor: 0,
        attempts: 3,
      }));
      lines.sort(() => Math.random() - 0.5);
      const { jobs } = await claimLimited(db, 0, oneOf([1, 2, 5]), worker, lines);
      mine.push(...jobs);
      const kept = mine.filter(() => Math.random() < 0.3);
      for (const job of mine.filter((one) => !kept.includes(one))) {
        const asked = (await settleAs(database, job, oneOf(outcomes))).length === 0;
        if (asked) await settleAs(database, job, SUCCESS, 'cancelling');
      }
      mine = kept;
    }
    for (const job of mine) await settleAs(database, job, SUCCESS);
  };
  const repeats = async (work: () => Promise<unknown>) => {
    while (!over.signal.aborted) {
      await work();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const everybody = [
    ...Array.from({ length: CLAIMERS }, claims),
    repeats(async () => await promote(db, 0, 100)),
    repeats(async () => await sweepLimiters(db, 0, SWEEP_START, 10)),
    repeats(async () => await cancelJob(db, 'a', oneOf(answers).jobId)),
    repeats(async () => {
      const states = ['queued', 'scheduled', 'running'] as const;
      const some = [oneOf(answers), oneOf(answers)].map(({ jobId }) => jobId);
      await cancelJobs(db, 0, [...new Set(some)], { tenant: 'b', states, by: null });
    }),
    // Each brings back a job that was cancelled; there must be an end to it.
    repeats(async () => {
      if (retried >= RETRIES) return;
      const [row] = await sql<{ id: string; tenant: string }>(CANCELLED);
      if (!row) return;
      const result = await retryJob(db, row.tenant, row.id, RETRY);
      if (result.kind === 'changed') retried += 1;
    }),
    // Of the second definition anything may change at any time.
    repeats(async () => {
      const change = { concurrencyLimit: oneOf([0, 1, 9]), concurrencyKeyLimit: oneOf([0, 1, 2]) };
      await changeLimits(db, 'definition', 'two', change, null);
    }),
    repeats(async () => {
      const target = { scope: 'definition', name: 'two' } as const;
      await pause(db, target, null, null);
      await resume(db, target);
    }),
    repeats(async () => {
      const [row] = await sql<Record<keyof typeof most, number>>(SNAPSHOT);
      if (!row) return;
      most.one = Math.max(most.one, row.one);
      most.tenant = Math.max(most.tenant, row.tenant);
      most.key = Math.max(most.key, row.key);
    }),
  ];
  const ended = async () => (await sql('select from longshore.done')).length === JOBS;
  try {
    await Promise.race([until('all jobs have ended', ended, 180_000), ...everybody]);
  } finally {
    over.abort();
  }
  await Promise.all(everybody);
  expect(most).toEqual(LIMITS);
  expect(retried).toBeGreaterThan(0);
  await expectNoDrift(database);
  await expectTrueCounters(database);
  expect(await sql('select from longshore.limiter where in_use <> 0 or blocked <> 0')).toEqual([]);
});
