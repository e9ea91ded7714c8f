import { hostname } from 'node:os';
import { Publishers } from '../../brokers/publishers.ts';
import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { BUCKETS } from '../../core/schedule/schedule-id.ts';
import { hasTerminalHooks, hookDefinition } from '../../core/definition/hooks.ts';
import type { RunDueBudget, RunDueSummary } from '../../core/queue/run-due.ts';
import { localQueue } from '../local-queue.ts';
import { localValues } from '../values/local-values.ts';
import type { LocalWorkerSettings } from '../local-worker.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import { finishCancels } from '../../scheduler/batches/batch-canceller.ts';
import { fireDue } from '../../scheduler/fire-due.ts';
import { reaper } from '../../scheduler/reaper.ts';
import { failUnserved } from '../../scheduler/unserved.ts';
import { JobLog } from '../../signals/job-log.ts';
import { countClaimable } from '../../store/claim/count-claimable.ts';
import { Db } from '../../store/connection/db.ts';
import { expireJobs } from '../../store/claim/expire.ts';
import { resolveAndRevive } from '../../store/edges/revive-later.ts';
import { rollUpAll } from '../../store/counters/roll-up.ts';
import { Enqueuer } from '../../enqueue/enqueuer.ts';
import { promote } from '../../store/claim/promote.ts';
import { SWEEP_START, sweepLimiters } from '../../store/limits/sweep-limiters.ts';
import type { UnservedScope } from '../../store/workers/unserved.ts';
import type { Waker } from '../../store/connection/wake.ts';
import { VERSION } from '../../version.ts';
import { builtIn } from '../built-in/built-in.ts';
import { budgetQueue } from '../../worker/claim/budget-queue.ts';
import { directQueue } from '../../worker/claim/direct-queue.ts';
import { Worker } from '../../worker/worker.ts';

const POLL_MS = 50;
const BATCH = 100;
const PROMOTED_AT_ONCE = 1_000;
const COUNTED_MAX = 10_000;

interface RunDueScope {
  tenant?: string | null;
  signal?: AbortSignal;
  /** The clock of the worker, which ends sleeps. */
  clock?: Clock;
}

/**
 * Serverless mode: no process runs all the time; a timer calls this every minute. It does the work
 * of schedulers and workers within a budget, and exits. It claims like any worker, so concurrent
 * calls and other workers are fine. When the time is over or the signal aborts, running jobs are
 * interrupted and returned, which costs no attempt.
 *
 * It runs jobs of all tenants, as every worker does. `tenant` limits which jobs may fail because no
 * worker has their definition: those of the caller, or of all tenants when null; and only jobs that
 * asked for it.
 */
export async function runDue(
  db: Db,
  waker: Waker,
  settings: LocalWorkerSettings,
  log: Log,
  { max, seconds }: RunDueBudget,
  { tenant = null, signal, clock = systemClock }: RunDueScope = {},
): Promise<RunDueSummary> {
  const endMs = systemClock.monotonicMs() + seconds * 1_000;
  const isOver = () => signal?.aborted === true || systemClock.monotonicMs() >= endMs;
  const { databaseUrl, pooler, leaseMs, concurrency } = settings;
  const reserved = Db.open({
    clock: systemClock,
    url: databaseUrl,
    pooler,
    log,
    shards: db.shards,
    max: 1,
  });
  const values = localValues(db, settings, log);
  const store = localQueue(db, reserved, waker, settings, log, values.large);
  const { queue, counters, answered } = budgetQueue(store, max);
  const identity = { host: hostname(), pid: process.pid, version: VERSION, slots: concurrency };
  const publishers = new Publishers(settings.brokers);
  const system = builtIn(db, systemClock, settings, publishers);
  const worker = new Worker({
    ...settings,
    ...identity,
    builtIn: system,
    queue: directQueue(queue),
    // It polls often enough to need no hints.
    databaseUrl: null,
    drainMs: 0,
    pollMs: POLL_MS,
    clock,
    log,
  });
  const enqueuer = new Enqueuer(db, waker, systemClock);
  const reaping = reaper({ db, waker, clock: systemClock, pollMs: leaseMs, log });
  try {
    // One round: the first tick of a loop ends before its stop does.
    await reaping.start();
    await reaping.stop();
    for (let shard = 0; shard < db.shards && !isOver(); shard += 1) {
      await finishCancels(db, shard, log, isOver);
    }
    await bringDue({ db, waker, enqueuer, log }, isOver);
    await worker.start();
    const jobLog = new JobLog(log, settings.logJobs);
    const scope = { afterMs: settings.unservedAfterMs, tenant, unpublishedAtOnce: true };
    const unserved = await failAllUnserved({ db, waker, jobLog }, scope, isOver);
    const own = system.definitions.map(({ info }) => info);
    const definitions = [...worker.report.definitions.flatMap(withHooks), ...own];
    const claimable = async () => {
      let jobs = 0;
      for (let shard = 0; shard < db.shards; shard += 1) {
        const queues = (await queue.queues(shard, definitions)).map(({ queue }) => queue);
        jobs += await countClaimable(db, shard, queues, COUNTED_MAX);
      }
      return jobs;
    };
    while (!isOver()) {
      if (counters.underWay === 0) {
        const { claimed } = counters;
        if (claimed >= max) break;
        await bringDue({ db, waker, enqueuer, log }, isOver);
        const left = await claimable();
        // Jobs that were counted as gone may be on their way to our own worker, or have ended and
        // left hooks and deliveries that were not counted.
        await answered();
        if (left === 0 && counters.underWay === 0 && counters.claimed === claimed) break;
      }
      await sleep(POLL_MS, signal);
    }
    await worker.stop();
    await rollUpAll(db);
    const { claimed, succeeded, retried } = counters;
    const deadLettered = counters.deadLettered + unserved;
    return { claimed, succeeded, retried, deadLettered, remaining: await claimable() };
  } finally {
    await worker.stop();
    await publishers.close();
    await reserved.close();
  }
}

/** The hooks of ended jobs are due as well. */
function withHooks(info: DefinitionInfo): DefinitionInfo[] {
  return hasTerminalHooks(info) ? [info, hookDefinition(info)] : [info];
}

/**
 * The work of schedulers: fires due slots, promotes due jobs, ends expired ones, moves on what
 * waited for ended jobs, and sweeps limiters. What is left when the time is over is due for the next call.
 */
async function bringDue(
  { db, waker, enqueuer, log }: { db: Db; waker: Waker; enqueuer: Enqueuer; log: Log },
  isOver: () => boolean,
): Promise<void> {
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  for (let shard = 0; shard < db.shards && !isOver(); shard += 1) {
    while ((await fireDue({ db, enqueuer, log }, shard, buckets, BATCH)) === BATCH && !isOver());
    for (let more = true; more && !isOver();) {
      const promotion = await promote(db, shard, PROMOTED_AT_ONCE);
      const expiry = await expireJobs(db, shard, PROMOTED_AT_ONCE);
      const resolved = await resolveAndRevive(db, shard, PROMOTED_AT_ONCE);
      waker.wake([...promotion.levels, ...expiry.levels, ...resolved.levels]);
      more = promotion.more || expiry.more || resolved.more;
    }
    waker.wake((await sweepLimiters(db, shard, SWEEP_START, PROMOTED_AT_ONCE)).levels);
  }
}

/**
 * Fails the jobs that must fail when no worker has their definition: a later call would have no
 * other worker either.
 */
async function failAllUnserved(
  parts: { db: Db; waker: Waker; jobLog: JobLog },
  scope: UnservedScope,
  isOver: () => boolean,
): Promise<number> {
  let failed = 0;
  for (let shard = 0; shard < parts.db.shards; shard += 1) {
    for (let more = true; more && !isOver();) {
      const batch = await failUnserved(parts, shard, scope);
      failed += batch.failed;
      more = batch.more;
    }
  }
  return failed;
}
