import { readdir } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { shardOfJobId } from '../../../src/core/job/job-id.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { allStatements } from '../../../src/store/connection/db.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { listJobs } from '../../../src/store/read/list-jobs.ts';
import { ensurePartitions } from '../../../src/store/connection/partitions.ts';
import {
  cleanKept,
  FIRST_KEY,
  keepKeys,
  spanPartitions,
  tidyKeys,
} from '../../../src/store/change/prune.ts';
import { postgresVersions, type TestDatabase } from '../../support/servers/database.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  agedDatabase,
  datedPartitions,
  dateOf,
  dropAll,
  endedSince,
  enqueueDaysAgo,
  everything,
  partitionNames,
  runningSince,
} from '../../support/old-jobs.ts';

const WEEK = { retentionDays: 7, deadLetterDays: 0 };
const FAILURE = failure('NON_RETRYABLE', 'broken for good');
const DAY_MS = 24 * 3_600_000;

describe.each(postgresVersions())('retention on PostgreSQL %i', (postgres) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await agedDatabase(postgres, 12);
    onTestFinished(database.close);
  });

  const view = async (id: string) => await getJob(database.db, 'default', id);

  const listed = async (status: 'succeeded' | 'failed' | 'running' | 'scheduled') => {
    const filter = { tenant: 'default', definitionKey: null, tag: null, createdAfter: null };
    const page = { createdBefore: null, newestFirst: true, afterId: null, limit: 50 };
    const { jobs } = await listJobs(database.db, { ...filter, ...page, statuses: [status] });
    return jobs.map(({ jobId }) => jobId);
  };

  const attemptsOf = async (id: string) =>
    await database.sql('select number from longshore.attempt where job_id = $1', [id]);

  it('drops partitions that are wholly older, one after another, with all that is in them', async () => {
    const old = await endedSince(database, 12, SUCCESS);
    const retried = await runningSince(database, 9);
    await settleAs(database, retried, failure('NETWORK_ERROR'));
    await database.sql(`update longshore.waiting set state = 'queued', seq = 1, run_at = null,
      queued_at = now()`);
    const [again] = await claimAny(database, await newWorker(database), 1);
    if (again) await settleAs(database, again, SUCCESS);
    await database.sql(`update longshore.done set finished_at = now() - interval '8 days'`);
    const cancelled = await enqueueDaysAgo(database, 8, { delayMs: DAY_MS });
    await cancelJob(database.db, 'default', cancelled);
    await database.sql(`update longshore.done set finished_at = now() - interval '169 hours'`);
    const recent = await endedSince(database, 6, SUCCESS);
    expect(await attemptsOf(retried.id)).toHaveLength(1);

    expect(await dropAll(database, WEEK)).toEqual([12, 11, 10, 9, 8].map(dateOf));
    for (const id of [old, retried.id, cancelled]) expect(await view(id)).toBeNull();
    expect(await attemptsOf(retried.id)).toEqual([]);
    expect(await view(recent)).toMatchObject({ status: 'succeeded' });
    expect(await listed('succeeded')).toEqual([recent]);
    const names = ['_old', ...Array.from({ length: 15 }, (_, n) => `_p${dateOf(7 - n)}`)];
    for (const table of [
      'job',
      'done',
      'attempt',
      'event',
      'log_chunk',
      'step',
      'stream_chunk',
      'edge',
    ]) {
      expect(await partitionNames(database, table)).toEqual(names);
    }
    expect(await dropAll(database, WEEK)).toEqual([]);
  });

  it('keeps active jobs, dead letters and recently ended jobs unchanged', async () => {
    const running = await runningSince(database, 12);
    const dead = await endedSince(database, 12, FAILURE, { idempotencyKey: 'k', tags: ['x'] });
    const late = await endedSince(database, 11, SUCCESS, { endedDaysAgo: 0 });
    const lately = await endedSince(database, 11, SUCCESS, { endedDaysAgo: 6 });
    const scheduled = await enqueueDaysAgo(database, 12, { delayMs: 30 * DAY_MS });
    const held = await enqueueDaysAgo(database, 10, { hold: true });
    const before = await everything(database);

    expect(await dropAll(database, WEEK)).toHaveLength(5);
    expect(await everything(database)).toEqual(before);
    expect(await view(dead)).toMatchObject({ status: 'failed', tags: ['x'], idempotencyKey: 'k' });
    expect(await attemptsOf(dead)).toHaveLength(1);
    expect(await view(held)).toMatchObject({ status: 'created' });
    expect(await listed('failed')).toEqual([dead]);
    expect(await listed('running')).toEqual([running.id]);
    expect(await listed('scheduled')).toEqual([scheduled]);
    expect(await listed('succeeded')).toEqual([lately, late].sort().reverse());
    expect(await enqueueOne(database, { idempotencyKey: 'k' })).toBe(dead);
  });

  it('lets a job go on whose body was moved', async () => {
    const running = await runningSince(database, 12, { maxAttempts: 2 });
    const scheduled = await enqueueDaysAgo(database, 12, { delayMs: 30 * DAY_MS });
    await dropAll(database, WEEK);
    await settleAs(database, running, failure('NETWORK_ERROR'));
    expect(await view(running.id)).toMatchObject({ status: 'retrying', attempts: 1 });
    await database.sql(`update longshore.waiting set state = 'queued', seq = 1, run_at = null,
      queued_at = now()`);
    const jobs = await claimAny(database, await newWorker(database), 2);
    expect(jobs.map(({ id }) => id).sort()).toEqual([running.id, scheduled].sort());
    for (const job of jobs) await settleAs(database, job, SUCCESS);
    expect(await view(running.id)).toMatchObject({ status: 'succeeded', attempts: 2 });
    expect(await attemptsOf(running.id)).toHaveLength(1);
    expect(await view(scheduled)).toMatchObject({ status: 'succeeded' });
  });

  it('keeps the keys of deleted jobs in use for as long as the operator says', async () => {
    const keyed = { idempotencyKey: 'outlives', paramsJson: '1' };
    const gone = await endedSince(database, 12, SUCCESS, keyed);
    await dropAll(database, WEEK);
    await keepKeys(database.db, 30);
    const refusal = {
      name: 'IdempotencyConflict',
      message: expect.stringContaining(gone) as string,
    };
    await expect(enqueueOne(database, keyed)).rejects.toMatchObject(refusal);
    const bySql = database.sql('select longshore.enqueue($1)', [
      { definitionKey: 'hello', params: 1, idempotencyKey: 'outlives' },
    ]);
    await expect(bySql).rejects.toMatchObject({ code: 'LS409' });
    expect(await tidyKeys(database.db, 0, FIRST_KEY, 10, 30)).toMatchObject({ freed: 0 });
    await keepKeys(database.db, 10);
    expect(await enqueueOne(database, keyed)).not.toBe(gone);
    await keepKeys(database.db, 0);
  });

  it('asks the shard of the job before it frees a key', async () => {
    const kept = await endedSince(database, 12, FAILURE, { idempotencyKey: 'far' });
    const gone = await endedSince(database, 12, SUCCESS, { idempotencyKey: 'far gone' });
    await dropAll(database, WEEK);
    // The same rows as if a scope had put them into another shard than their jobs.
    await database.sql('update longshore.dedupe set shard = 1 where job_id = any ($1::uuid[])', [
      [kept, gone],
    ]);
    expect(await tidyKeys(database.db, 1, FIRST_KEY, 10, 7)).toEqual({ freed: 1, last: null });
    const left = await database.sql('select key from longshore.dedupe where shard = 1');
    expect(left).toEqual([{ key: 'far' }]);
    await database.sql('delete from longshore.dedupe where shard = 1');
  });

  it('frees the key of a deleted job, and no other', async () => {
    const keyed = { idempotencyKey: 'gone', paramsJson: '1' };
    const first = await endedSince(database, 12, SUCCESS, keyed);
    await endedSince(database, 12, SUCCESS, { idempotencyKey: 'tidied' });
    const dead = await endedSince(database, 12, FAILURE, { idempotencyKey: 'kept' });
    await enqueueOne(database, { idempotencyKey: 'new' });
    await dropAll(database, WEEK);
    const second = await enqueueOne(database, { ...keyed, paramsJson: '2' });
    expect(second).not.toBe(first);

    let place = FIRST_KEY;
    let freed = 0;
    for (let page = 0; page < 4; page += 1) {
      const round = await tidyKeys(database.db, shardOfJobId(dead), place, 1, 7);
      freed += round.freed;
      place = round.last ?? FIRST_KEY;
    }
    expect(await tidyKeys(database.db, 0, place, 1, 7)).toEqual({ freed: 0, last: null });
    expect(freed).toBe(1);
    const keys = await database.sql('select key from longshore.dedupe order by key');
    expect(keys).toEqual([{ key: 'gone' }, { key: 'kept' }, { key: 'new' }]);
    expect(await enqueueOne(database, { idempotencyKey: 'kept' })).toBe(dead);
  });

  it('drops dead letters too when they have a time, also later, and in bounded batches', async () => {
    const [early, later] = [11, 3];
    const dead = [
      await endedSince(database, 12, FAILURE, { endedDaysAgo: early }),
      await endedSince(database, 12, FAILURE, { endedDaysAgo: early }),
      await endedSince(database, 12, FAILURE, { endedDaysAgo: later }),
    ];
    const success = await endedSince(database, 12, SUCCESS, { endedDaysAgo: 6 });
    await dropAll(database, WEEK);
    expect(await cleanKept(database.db, WEEK, 100)).toBe(0);
    expect(await listed('failed')).toEqual([...dead].reverse());

    const tenDays = { retentionDays: 7, deadLetterDays: 10 };
    expect(await cleanKept(database.db, tenDays, 1)).toBe(1);
    expect(await cleanKept(database.db, tenDays, 1)).toBe(1);
    expect(await cleanKept(database.db, tenDays, 1)).toBe(0);
    expect(await listed('failed')).toEqual([dead[2]]);
    expect(await database.sql('select job_id from longshore.attempt')).toEqual([
      { job_id: dead[2] },
    ]);
    const inTwoDays = new Date(Date.now() + 2 * DAY_MS);
    expect(await cleanKept(database.db, WEEK, 100, inTwoDays)).toBe(1);
    expect(await view(success)).toBeNull();
    expect(await database.sql('select id from longshore.job')).toHaveLength(1);
  });

  it('does not take dead letters along that are over when their partition goes', async () => {
    const dead = await endedSince(database, 12, FAILURE);
    const fresh = await endedSince(database, 12, FAILURE, { endedDaysAgo: 0 });
    await dropAll(database, { retentionDays: 7, deadLetterDays: 1 });
    expect(await view(dead)).toBeNull();
    expect(await view(fresh)).toMatchObject({ status: 'failed' });
  });

  it('gathers survivors beside a large past, and merges the two when it pays', async () => {
    const dead: string[] = [];
    for (const day of [12, 11, 10]) dead.push(await endedSince(database, day, FAILURE));
    const dropOne = async (smallBytes: number) => {
      const call = 'longshore.drop_oldest(7, 0, clock_timestamp(), $1)';
      await database.sql(`select * from ${call}`, [smallBytes]);
      return (await partitionNames(database)).slice(0, 3);
    };
    expect(await dropOne(1e9)).toEqual(['_old', `_p${dateOf(11)}`, `_p${dateOf(10)}`]);
    // Nothing counts as small now, and `_kept` is no quarter of `_old` before it exists.
    expect(await dropOne(0)).toEqual(['_old', '_kept', `_p${dateOf(10)}`]);
    expect(await listed('failed')).toEqual([...dead].reverse());
    expect(await dropOne(0)).toEqual(['_old', `_p${dateOf(9)}`, `_p${dateOf(8)}`]);
    expect(await listed('failed')).toEqual([...dead].reverse());
    expect(await dropAll(database, WEEK)).toHaveLength(2);
    expect(await listed('failed')).toEqual([...dead].reverse());
  });

  it('drops what piled up while the server was off for weeks', async () => {
    await datedPartitions(database, 40);
    await database.sql(`do $$ declare part text; begin
      for part in select t.name || p.suffix
        from longshore.partitioned_tables() t, longshore.partitions(t.name) p
        where longshore.id_time(p.upper_id) > now() - interval '30 days'
      loop execute format('drop table longshore.%I', part); end loop;
    end $$`);
    const dead = await endedSince(database, 35, FAILURE);
    await ensurePartitions(database.db);
    const inGap = await enqueueDaysAgo(database, 20, { delayMs: DAY_MS });
    expect((await dropAll(database, WEEK)).length).toBeGreaterThanOrEqual(9);
    expect((await partitionNames(database)).length).toBeLessThanOrEqual(16);
    expect(await view(dead)).toMatchObject({ status: 'failed' });
    expect(await view(inGap)).toMatchObject({ status: 'scheduled' });
  });

  it('makes wider partitions for a longer retention, so that there are never many', async () => {
    await spanPartitions(database.db, 90);
    const counts: number[] = [];
    // Nothing is over before the 78th day, and partitions are made a week ahead.
    for (let day = 5; day <= 130; day += day < 75 ? 5 : 1) {
      const then = [day];
      const at = `now() + make_interval(hours => 24 * $1::int)`;
      await database.sql(`select longshore.ensure_partitions(7, ${at})`, then);
      await database.sql(`select longshore.drop_oldest(90, 0, ${at})`, then);
      // Those of the time before stay as they are, until they are over as well.
      if (day > 100) counts.push((await partitionNames(database)).length);
    }
    expect(counts).toHaveLength(30);
    expect(Math.max(...counts)).toBeLessThanOrEqual(16);
    await spanPartitions(database.db, 7);
    expect(
      await database.sql(`select value from longshore.setting where name = 'partition_days'`),
    ).toEqual([{ value: 1 }]);
  });

  it('takes a table along that is added to the list later', async () => {
    await database.sql(`create table longshore.note (shard smallint, job_id uuid, text text,
      primary key (shard, job_id)) partition by range (job_id)`);
    await database.sql(`create or replace function longshore.partitioned_tables()
      returns table (name text, id_column text) language sql immutable as $$
      values ('job', 'id'), ('done', 'id'), ('attempt', 'job_id'), ('event', 'job_id'),
        ('log_chunk', 'job_id'), ('step', 'job_id'), ('stream_chunk', 'job_id'), ('note', 'job_id') $$`);
    await ensurePartitions(database.db);
    expect(await partitionNames(database, 'note')).toEqual(await partitionNames(database));
    const dead = await endedSince(database, 12, FAILURE);
    const gone = await endedSince(database, 12, SUCCESS);
    const { id: running } = await runningSince(database, 12);
    await database.sql(`insert into longshore.note select shard, id, 'n' from longshore.job`);
    await dropAll(database, WEEK);
    const notes = await database.sql<{ job_id: string }>('select job_id from longshore.note');
    expect(notes.map(({ job_id }) => job_id).sort()).toEqual([dead, running].sort());
    expect(notes).not.toContainEqual({ job_id: gone });
  });
});

it('is recorded by every statement that takes a job out of done', async () => {
  const folder = new URL('../../../src/store/', import.meta.url);
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => /(?<!\.test)\.ts$/.test(name));
  for (const name of files) await import(new URL(name, folder).href);
  const leaving = allStatements.filter(({ text }) => /delete from longshore\.done/.test(text));
  for (const { name, text } of leaving) {
    expect(text, `${name} must write to longshore.revived`).toMatch(/longshore\.revived/);
  }
});
