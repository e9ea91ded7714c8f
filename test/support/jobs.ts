import { writeTimings } from '../../src/store/counters/timings.ts';
import { Timings } from '../../src/worker/claim/timings.ts';
import { randomUUID } from 'node:crypto';
import { type JobRequest, plainRequest } from '../../src/core/job/new-job.ts';
import { DEFAULT_RETRY } from '../../src/core/failure/backoff.ts';
import { NO_USAGE } from '../../src/core/job/job.ts';
import { decide, type Outcome } from '../../src/core/job/lifecycle.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { reaper } from '../../src/scheduler/reaper.ts';
import { claim, type ClaimedJob, type ClaimLevel } from '../../src/store/claim/claim.ts';
import { findLevels } from './checks/find-levels.ts';
import type { Queryable } from '../../src/store/connection/db.ts';
import { settle, type Settled } from '../../src/store/claim/settle.ts';
import type { Settlement } from '../../src/store/claim/settlement.ts';
import { registerWorker } from '../../src/store/workers/workers.ts';
import type { TestDatabase } from './servers/database.ts';

export function request(changes: Partial<JobRequest> = {}): JobRequest {
  return { ...plainRequest('default', 'hello', '{}'), ...changes };
}

/** Registers a worker instance and answers with its id. */
export async function newWorker({ db }: TestDatabase, leaseMs = 60_000): Promise<string> {
  const instance = randomUUID();
  const worker = { instance, host: 'test', pid: 1, version: '0', slots: 1, leaseMs };
  await registerWorker(db, 0, worker);
  return instance;
}

export async function enqueueOne(
  { enqueuer }: TestDatabase,
  changes: Partial<JobRequest> = {},
): Promise<string> {
  const [answer] = await enqueuer.start([request(changes)]);
  if (!answer) throw new Error('no answer');
  return answer.jobId;
}

/** Claims from every queue that has work, and counts the waits as a worker does. */
export async function claimAny(
  database: TestDatabase,
  worker: string,
  limit: number,
): Promise<ClaimedJob[]> {
  const { db } = database;
  const jobs = await claim(db, 0, limit, worker, await everyLevel(database));
  const timings = new Timings(systemClock, async (rows) => await writeTimings(db, 0, rows));
  for (const { queue, waitedMs } of jobs) timings.add(queue, 'running', waitedMs ?? 0);
  await timings.write();
  return jobs;
}

/** The levels with work, most urgent first, as of a worker that serves every definition. */
export async function everyLevel({ db, sql }: TestDatabase): Promise<ClaimLevel[]> {
  const queues = await sql<{ queue: number; attempts: number }>(
    `select q.queue, coalesce((d.info ->> 'maxAttempts')::int, 3) as attempts
     from longshore.queue q
     left join longshore.definition d on d.key = q.key and d.version = q.version
     where q.shard = 0`,
  );
  const attempts = new Map(queues.map((row) => [row.queue, row.attempts]));
  const levels = await findLevels(db, 0, [...attempts.keys()]);
  levels.sort((a, b) => a.rank - b.rank || a.queue - b.queue);
  return levels.map((level) => ({ ...level, floor: 0, attempts: attempts.get(level.queue) ?? 3 }));
}

/** What a worker would write about the end of this attempt, by the same decision function. */
export function settlementOf(
  job: ClaimedJob,
  outcome: Outcome,
  was: 'running' | 'cancelling' = 'running',
): Settlement {
  const rules = { maxInterruptions: 10, retry: DEFAULT_RETRY, retryOn: null };
  const transition = decide({ ...job, ...rules, state: was }, outcome, 0.5);
  return { id: job.id, claim: job.claim, was, transition, usage: NO_USAGE };
}

/** Settles one claimed job as the worker would. */
export async function settleAs(
  { db }: { db: Queryable },
  job: ClaimedJob,
  outcome: Outcome,
  was: 'running' | 'cancelling' = 'running',
): Promise<Settled[]> {
  return await settle(db, 0, [settlementOf(job, outcome, was)]);
}

export const SUCCESS: Outcome = { kind: 'success', resultJson: '{"ok":true}' };

export function failure(
  code: string,
  message = 'boom',
  retryAfterMs: number | null = null,
): Outcome {
  return { kind: 'failure', error: { code, message, stack: null, cause: null }, retryAfterMs };
}

/** The lease of a worker runs out, and the reaper finds out: a start and a stop are one round of it. */
export async function loseLease({ db, waker, sql }: TestDatabase, worker: string): Promise<void> {
  const expire = `update longshore.worker set lease_until = now() - interval '1 s'
    where instance = $1`;
  await sql(expire, [worker]);
  const round = reaper({ db, waker, clock: systemClock, pollMs: 60_000, log: silentLog });
  await round.start();
  await round.stop();
}
