import { writeStreamChunks } from '../../../src/store/attempt/stream-chunks.ts';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobIdFloor } from '../../../src/core/job/job-id.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { cleanKept } from '../../../src/store/change/prune.ts';
import { loadSteps, saveStep } from '../../../src/store/attempt/steps.ts';
import { postgresVersions, type TestDatabase } from '../../support/servers/database.ts';
import { HeldLink } from '../../support/servers/held-link.ts';
import { failure, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  agedDatabase,
  dateOf,
  dropAll,
  dropPatiently,
  everything,
  runningSince,
  untilPrunerAsks,
} from '../../support/old-jobs.ts';
import { allEvents, allLogs, chunk, publishHooks, saidBy } from '../../support/history.ts';

const WEEK = { retentionDays: 7, deadLetterDays: 0 };
const FAILURE = failure('NON_RETRYABLE', 'broken for good');

describe.each(postgresVersions())('retention of what jobs say, on PostgreSQL %i', (postgres) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await agedDatabase(postgres, 10);
    onTestFinished(database.close);
  });

  /** A line, an event, a step and a checkpoint, each with its number. */
  const tell = async (job: ClaimedJob, n: number) => {
    const { id, claim } = job;
    await writeLogChunks(database.db, 0, [chunk(job, n, [`line ${n}`, 'x'.repeat(9_000 + n)])]);
    await writeEvents(database.db, 0, [saidBy(job, n, `${n}`)]);
    await saveStep(database.db, 0, { id, claim, name: `step ${n}`, valueJson: `${n}` });
    await saveStep(database.db, 0, { id, claim, name: null, valueJson: `${n}` });
    await writeStreamChunks(database.db, 0, [{ id, claim, attempt: 1, n, data: `${n}` }]);
  };

  const talkative = async (daysAgo: number) => {
    const job = await runningSince(database, daysAgo, { maxAttempts: 1 });
    await tell(job, 0);
    return job;
  };

  /** As if it had ended on the day it was made. */
  const endLongAgo = async (job: ClaimedJob, outcome: typeof SUCCESS, daysAgo: number) => {
    await settleAs(database, job, outcome);
    const past = `finished_at = finished_at - make_interval(hours => 24 * $2::int)`;
    await database.sql(`update longshore.done set ${past} where id = $1`, [job.id, daysAgo]);
  };

  const rowsOf = async ({ id }: ClaimedJob) => {
    const counts = ['event', 'log_chunk', 'step', 'stream_chunk'].map(async (table) => {
      const text = `select from longshore.${table} where job_id = $1`;
      return (await database.sql(text, [id])).length;
    });
    return await Promise.all(counts);
  };

  it('is deleted with its job, and stays unchanged for jobs that stay', async () => {
    const gone = await talkative(10);
    await endLongAgo(gone, SUCCESS, 10);
    const dead = await talkative(10);
    await endLongAgo(dead, FAILURE, 10);
    const late = await talkative(9);
    await settleAs(database, late, SUCCESS);
    const running = await talkative(10);
    const before = (await everything(database)) as Record<string, string[]>;

    expect(await dropAll(database, WEEK)).toEqual([10, 9, 8].map(dateOf));
    expect(await rowsOf(gone)).toEqual([0, 0, 0, 0]);
    const kept = Object.entries(before).map(([table, rows]) => {
      return [table, rows.filter((row) => !row.includes(gone.id))];
    });
    expect(await everything(database)).toEqual(Object.fromEntries(kept));
    for (const { id } of [dead, late, running]) {
      const logs = await allLogs(database, id);
      expect(logs.map(({ message }) => message)).toEqual(['line 0', 'x'.repeat(9_000)]);
      expect((await allEvents(database, id)).map(({ payload }) => payload)).toContain(0);
    }
    await tell(running, 1);
    expect(await rowsOf(running)).toEqual([2, 2, 3, 2]);
    expect(await cleanKept(database.db, { retentionDays: 7, deadLetterDays: 1 }, 100)).toBe(1);
    expect(await rowsOf(dead)).toEqual([0, 0, 0, 0]);
    expect(await rowsOf(late)).toEqual([1, 1, 2, 1]);
  });

  it('takes along what was said between the copy and the lock', async () => {
    const goesOn = await talkative(10);
    const ends = await talkative(10);
    const begins = await runningSince(database, 10);
    const dead = await talkative(10);
    await endLongAgo(dead, FAILURE, 10);
    const reader = await HeldLink.begin(database);
    await getJob(reader, 'default', jobIdFloor(0));
    const dropping = dropPatiently(database, WEEK);
    await untilPrunerAsks(database);

    await tell(goesOn, 1);
    await tell(ends, 1);
    await settleAs(database, ends, FAILURE);
    await tell(begins, 0);
    const before = await everything(database);
    await reader.rollback();

    expect(await dropping).toMatchObject({ partition: dateOf(10) });
    expect(await everything(database)).toEqual(before);
    for (const { id } of [goesOn, ends]) {
      expect(await loadSteps(database.db, 0, id)).toMatchObject({ checkpointJson: '1' });
      expect(await allLogs(database, id)).toHaveLength(4);
    }
  });

  it('counts the days of a hook from its own end', async () => {
    await publishHooks(database, 'hello', ['onEnd']);
    const job = await talkative(10);
    await endLongAgo(job, SUCCESS, 10);
    await dropAll(database, WEEK);
    expect(await getJob(database.db, 'default', job.id)).toBeNull();
    const hooks = await database.sql('select parent_id from longshore.job where hook is not null');
    expect(hooks).toEqual([{ parent_id: job.id }]);
  });
});
