import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_USAGE, TERMINAL_STATES } from '../../../src/core/job/job.ts';
import { ANY_JOB } from '../../../src/core/job/job-criteria.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import {
  countYoungDead,
  findDeadQueues,
  findOldLevels,
  findYoungRetries,
} from '../../../src/store/alerts/alert-probes.ts';
import { findMissedSlots } from '../../../src/store/alerts/missed-slots.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { cancelJobs } from '../../../src/store/change/cancel-jobs.ts';
import { claim } from '../../../src/store/claim/claim.ts';
import { allStatements } from '../../../src/store/connection/db.ts';
import { deleteJobs } from '../../../src/store/change/delete-jobs.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { servedQueues } from '../../../src/store/enqueue/queues.ts';
import { claimLimited } from '../../../src/store/claim/limited-claim.ts';
import { permit } from '../../../src/store/limits/limiters.ts';
import { FIRST_ID, LAST_ID } from '../../../src/store/connection/id-range.ts';
import { viewJobs } from '../../../src/store/read/get-job.ts';
import { writeStreamChunks } from '../../../src/store/attempt/stream-chunks.ts';
import { readStream } from '../../../src/store/read/read-stream.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { saveProgress } from '../../../src/store/attempt/progress.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { readAttempts } from '../../../src/store/read/read-attempts.ts';
import { readEvents } from '../../../src/store/read/read-events.ts';
import { readLogs } from '../../../src/store/read/read-logs.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { retryJobs } from '../../../src/store/change/retry-jobs.ts';
import { settlementStatusOf } from '../../../src/store/claim/settlement-status.ts';
import { settle } from '../../../src/store/claim/settle.ts';
import { filterJobs } from '../../../src/store/read/filter-jobs.ts';
import { loadSteps, saveStep } from '../../../src/store/attempt/steps.ts';
import { findBeating, findLate } from '../../../src/store/workers/suspect-workers.ts';
import {
  hasLimiters,
  SWEEP_START,
  sweepLimiters,
} from '../../../src/store/limits/sweep-limiters.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import {
  findOrphans,
  forgetWorkers,
  heartbeat,
  readLease,
} from '../../../src/store/workers/workers.ts';
import { postgresVersions, sharedDatabase } from '../../support/servers/database.ts';
import {
  fillQueue,
  FIRST_KEY_LIMITER,
  type FullQueue,
  LIMITED_QUEUE,
  SMALL_QUEUE,
} from '../../support/servers/full-queue.ts';
import { statementNamed } from '../../support/servers/held-link.ts';
import { buffersOf, Planner, rowsReadFrom } from '../../support/checks/plans.ts';

// Statements register themselves when their file is loaded; a new file cannot be forgotten here.
const folder = new URL('../../../src/store/', import.meta.url);
for (const name of await readdir(folder, { recursive: true })) {
  if (/(?<!\.test)\.ts$/.test(name)) await import(new URL(name, folder).href);
}

/** Tables that grow with the load. Nothing may ever read one of them as a whole. */
const GROWING = [
  'waiting',
  'running',
  'job',
  'done',
  'attempt',
  'event',
  'log_chunk',
  'stream_chunk',
  'step',
  'dedupe',
  'limiter',
  'schedule',
  'slot',
  'counter_delta',
];

/** What runs for every job, or for every round of a loop. Renaming one must not hide it. */
const HOT =
  `claim served_queues settle settlement_status enqueue find_holders free_key heartbeat promote
  find_orphans forget_workers settle_and_claim view_jobs cancel_waiting cancel_running progress release_job
  read_changeable_job list_by_queue_desc list_by_tag_desc list_waiting_desc list_running_desc
  list_done_desc list_unsuccessful_desc write_log_chunks write_stream_chunks read_stream write_events save_steps load_steps read_logs
  read_events read_attempts read_lease find_late find_beating find_holder_jobs take_keys
  point_keys lock_unique_keys replace_waiting find_expired fail_waiting find_unserved claim_limited
  permit find_adopting find_stuck_limiters forget_limiters block_queued retry_jobs delete_jobs
  cancel_many_waiting cancel_many_running filter_jobs search_dead_letters search_dead_group
  dead_groups list_by_run_at list_by_priority list_open_asc find_old_levels find_dead_queues
  count_young_dead find_young_retries find_stuck find_late_schedules find_missed_slots`.split(
    /\s+/,
  );

it('has one name for each statement', () => {
  const names = allStatements.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  expect(names).toEqual(expect.arrayContaining(HOT));
});

it('gives every dead letter a fingerprint', () => {
  const harmless = /select shard, id, queue, '(cancelled|succeeded)'/;
  const failing = allStatements.filter(
    ({ text }) => /insert into longshore\.done/.test(text) && !harmless.test(text),
  );
  expect(failing.map(({ name }) => name)).toContain('settle');
  for (const { name, text } of failing) {
    expect(text, `${name} must write a fingerprint (core/failure/fingerprint.ts)`).toMatch(
      /fingerprint/,
    );
  }
});

/** Statements that write a row which stays in its state. */
const NOT_MOVED = [
  'permit',
  'replace_waiting',
  'adopt',
  'begin_batch_cancel',
  'block_queued',
  'close_batch',
  'hurry_delivery',
  'progress',
  'reseal_1_done',
  'watch_retried',
  'watch_running',
  'watch_waiting',
];

it('counts every move of a job', () => {
  const writing = allStatements.filter(({ text }) =>
    /(insert into|update|delete from) longshore\.(waiting|running|done)\b/.test(text),
  );
  const uncounted = writing.filter(
    ({ text }) => !/insert into longshore\.counter_delta/.test(text),
  );
  expect(writing.length - uncounted.length).toBeGreaterThan(12);
  expect(uncounted.map(({ name }) => name).sort()).toEqual(NOT_MOVED.toSorted());
});

describe.each(postgresVersions())('every statement on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });
  let early: Planner;
  let queue: FullQueue;

  beforeAll(async () => {
    early = new Planner(database.url);
  });
  afterAll(async () => await early.close());

  /** The statements, each with the scans that would read a whole table. */
  const offenders = async () => {
    const planner = new Planner(database.url, '-c enable_partition_pruning=off');
    await planner.open();
    try {
      const found: string[] = [];
      for (const statement of allStatements) {
        for (const scan of planner.wholeReads(await planner.explain(statement), GROWING)) {
          found.push(`${statement.name}: ${scan}`);
        }
      }
      return [...new Set(found)];
    } finally {
      await planner.close();
    }
  };

  it('can be prepared', async () => {
    await early.open();
    const { rows } = await early.client.query<{ name: string }>(
      'select name from pg_prepared_statements where from_sql',
    );
    expect(rows).toHaveLength(allStatements.length);
  });

  it('reads no whole table while the tables have never been analysed', async () => {
    expect(await offenders()).toEqual([]);
  });

  it('reads no whole table when they were analysed while empty', async () => {
    await database.sql('analyze');
    expect(await offenders()).toEqual([]);
    // This connection now has its plans, and keeps them when the tables fill up.
    for (const statement of allStatements) await early.explain(statement);
  });

  it('reads few rows of a full queue, although it was planned for an empty one', async () => {
    queue = await fillQueue(database.url);
    await expectFewReads(early, queue);
  });

  it('reads no whole table of a full queue that was analysed', async () => {
    await database.sql('analyze');
    expect(await offenders()).toEqual([]);
    const late = new Planner(database.url);
    await late.open();
    try {
      await expectFewReads(late, queue);
    } finally {
      await late.close();
    }
  });
});

/** How many rows a statement may look at, for ten jobs beside 45,000 or for one. */
const ROWS_MAX: Record<string, number> = {
  claim: 30, // the head of the level, the same rows again to delete them, the bodies
  settle_and_claim: 50,
  // Functions: their rows are not in the plan, but their pages are, those of planning included.
  claim_few: 15,
  settle_and_claim_few: 30,
  served_queues: 20, // the queues, their limits, and the first job of each rank
  settle: 20,
  progress: 10,
  write_log_chunks: 10,
  write_stream_chunks: 10,
  read_stream: 5, // the job, its place, its queue, two chunks
  write_events: 10,
  save_steps: 2, // the owned row, and the checkpoint that is overwritten
  load_steps: 1,
  read_logs: 4,
  read_events: 8,
  read_attempts: 3,
  settlement_status: 2,
  heartbeat: 10,
  read_lease: 10,
  promote: 21,
  view_jobs: 30,
  read_changeable_job: 2,
  cancel_waiting: 1,
  cancel_running: 2, // to see how it was, and to change it
  release_job: 1,
  search_dead_group: 12, // ten, and one more to see whether there are more
  dead_groups: 50, // of each group its two ends, of the count no more than is asked for, earlier ends
  list_by_run_at: 11,
  list_by_priority: 36, // of each of three queues ten, and two more to see where to stop
  filter_jobs: 70, // body, outcome and attempt of each
  retry_jobs: 80, // outcome, body and step of each, and once more to change it
  delete_jobs: 190, // each with its outcome, body, attempt, events, levels and steps, all twice
  cancel_many_waiting: 10,
  cancel_many_running: 20,
  still_open: 10,
  find_orphans: 0,
  forget_workers: 0,
  find_late: 0,
  find_beating: 10,
  // The head of both levels, the same rows again to delete them, two looks at one limiter and its change,
  // and for each job of a key the limiter of that key, whose definition may have a rate.
  claim_limited: 75,
  permit: 5,
  first_limiter: 1,
  find_adopting: 0,
  block_queued: 0,
  find_stuck_limiters: 20, // a slice, and the definition of each
  forget_limiters: 20,
  // Of each of some forty levels the next one, and its head; of each of eight queues the next one.
  find_old_levels: 90,
  find_dead_queues: 10,
  count_young_dead: 5,
  find_young_retries: 0,
  find_late_schedules: 3, // none, but a look into each of 64 buckets
  find_missed_slots: 0,
  // Asked every second: no row of these tables, but for each of 500 queues a probe of two pages.
  read_shard_versions: 120,
  read_topic_versions: 0,
};

const LINE = { atMs: 0, level: 'info', stream: 'stdout', message: 'hello' } as const;

async function expectFewReads(planner: Planner, queue: FullQueue): Promise<void> {
  const seen = new Set<string>();
  const db = planner.measuring((name, nodes) => {
    const rowsMax = ROWS_MAX[name] ?? -1;
    expect(rowsReadFrom(nodes, GROWING), `rows of ${name}`).toBeLessThanOrEqual(rowsMax);
    expect(buffersOf(nodes), `pages of ${name}`).toBeLessThanOrEqual(100 + 10 * rowsMax);
    seen.add(name);
  });
  const { worker, runningIds, doneIds } = queue;
  const [running = '', done = ''] = [runningIds[0], doneIds[0]];
  const levels = [{ queue: SMALL_QUEUE, rank: 0, floor: 0, attempts: 3 }];
  const attempt = { attempts: 1, maxAttempts: 3, interruptions: 0, state: 'running' } as const;
  const outcome = { kind: 'success', resultJson: '1' } as const;
  const transition = decide({ ...DEFAULT_RULES, ...attempt }, outcome, 0.5);
  const settlements = runningIds.map(
    (id) => ({ id, claim: 1, was: 'running', transition, usage: NO_USAGE }) as const,
  );
  await claim(db, 0, 10, worker, levels);
  await settleAndClaim(db, 0, { settlements, limit: 10, instance: worker, levels });
  await claim(db, 0, 3, worker, levels);
  const few = settlements.slice(0, 3);
  await settleAndClaim(db, 0, { settlements: few, limit: 3, instance: worker, levels });
  const served = [1, 2, 3].map((n) => ({ key: `key-${n}`, version: 1 }));
  await servedQueues(db, 0, served);
  await settle(db, 0, settlements);
  const progress = { claim: 1, fraction: 0.5, message: null };
  await saveProgress(
    db,
    0,
    runningIds.map((id) => ({ id, ...progress })),
  );
  const said = { claim: 1, attempt: 1, n: 5 };
  await writeLogChunks(
    db,
    0,
    runningIds.map((id) => ({ id, ...said, lines: [LINE] })),
  );
  await writeStreamChunks(
    db,
    0,
    runningIds.map((id) => ({ id, ...said, data: 'text' })),
  );
  const event = { ...said, type: 'custom', payloadJson: '1', ageMs: 0 } as const;
  await writeEvents(
    db,
    0,
    runningIds.map((id) => ({ id, ...event })),
  );
  await saveStep(db, 0, { id: running, claim: 1, name: null, valueJson: '1' });
  await loadSteps(db, 0, done);
  await readLogs(db, 'default', done, { afterId: null, attempt: null, limit: 100 });
  await readStream(db, 'default', done, null);
  await readEvents(db, 'default', done, { afterId: null, limit: 100 });
  await readAttempts(db, 'default', done);
  await settlementStatusOf(db, 0, done, 1);
  await heartbeat(db, 0, worker, 30_000);
  await readLease(db, 0, worker);
  await findLate(db, 0);
  await findBeating(db, 0, 30_000);
  await promote(db, 0, 10);
  await viewJobs(db, 0, 'default', doneIds);
  await cancelJob(db, 'default', running);
  await releaseJob(db, 'default', running);
  await claimLimited(db, 0, 10, worker, [
    { queue: LIMITED_QUEUE, rank: 0, floor: 0, attempts: 3 },
    ...levels,
  ]);
  await permit(db, 0, [FIRST_KEY_LIMITER]);
  await hasLimiters(db, 0);
  await sweepLimiters(db, 0, SWEEP_START, 10);
  const ended = { tenant: 'default', states: TERMINAL_STATES, endedBefore: null };
  await retryJobs(db, 0, doneIds, { mode: 'reset', runAt: null, paramsJson: '1' }, ended);
  await deleteJobs(db, 0, doneIds, ended);
  const open = { tenant: 'default', states: ['queued', 'running'] as const, by: null };
  await cancelJobs(db, 0, runningIds, open);
  const search = { words: ['x'], tags: ['y'], id: null, worker: 'a' };
  await filterJobs(db, 0, doneIds, ANY_JOB, search, null);
  const anyTime = [null, null];
  const page = [...anyTime, 11, null, 'f1', [], 11, [], null, null];
  await db.run(statementNamed('search_dead_group'), [0, [2], ...anyTime, ...page]);
  await db.run(statementNamed('dead_groups'), [0, [2], ...anyTime, 5, 10, null, []]);
  await db.run(statementNamed('list_by_priority'), [0, [1, 2, 3], 11, FIRST_ID, -1_000, 0]);
  const due = [11, LAST_ID, -1, null, ['scheduled'], 100];
  await db.run(statementNamed('list_by_run_at'), [0, [2, 3, 4, 5, 6, 7, 8], ...due]);
  await findOldLevels(db, 0, 60);
  await findDeadQueues(db, 0);
  const dead = { queue: 2, tenant: 'default', definitionKey: 'key-2', seconds: 3_600, bound: 5 };
  await countYoungDead(db, 0, [dead]);
  await findYoungRetries(db, 0, 600);
  await findMissedSlots(db, 0, 3_600);
  await db.run(statementNamed('read_shard_versions'), [0, 'default']);
  await db.run(statementNamed('read_topic_versions'), ['default']);
  await findOrphans(db, 0, 10);
  await forgetWorkers(db, 0);
  expect([...seen].sort()).toEqual(Object.keys(ROWS_MAX).sort());
}
