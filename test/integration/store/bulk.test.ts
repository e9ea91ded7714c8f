import { describe, expect, it, onTestFinished } from 'vitest';
import type { BulkAction } from '../../../src/core/job/bulk.ts';
import { ANY_JOB, type JobCriteria } from '../../../src/core/job/job-criteria.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { runBatch } from '../../../src/scheduler/bulk-batch.ts';
import { bulkRunner } from '../../../src/scheduler/bulk-runner.ts';
import { abortBulk, type BulkHow, getBulk, listBulks } from '../../../src/store/change/bulks.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { pruneBulks } from '../../../src/store/change/prune-bulks.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { previewBulk, startBulk } from '../../../src/store/change/start-bulk.ts';
import { postgresVersions, databasePerTest } from '../../support/servers/database.ts';
import { GONE, manyDeadLetters, SLOW } from '../../support/dead-letters.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { claimAny, enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { endedBulks } from '../../support/old-jobs.ts';
import { publishHooks } from '../../support/history.ts';
import { until } from '../../support/until.ts';

describe.each(postgresVersions())('a bulk action on PostgreSQL %i', (postgres) => {
  const database = databasePerTest({ postgres });

  const bulkRequest = (
    action: BulkAction,
    criteria: Partial<JobCriteria>,
    how: Partial<BulkHow> = {},
  ) => ({
    tenant: 'default',
    action,
    criteria: { ...ANY_JOB, ...criteria },
    how: { mode: 'now' as const, runAt: null, paramsJson: null, ratePerSecond: null, ...how },
  });

  const states = async () =>
    Object.fromEntries(
      (
        await database.sql<{ state: string; n: number }>(
          `select state, count(*)::int as n from (
             select state from longshore.waiting union all select state from longshore.running
             union all select state from longshore.done) s
           group by 1`,
        )
      ).map(({ state, n }) => [state, n]),
    );

  const workOff = async () => {
    let batches = 0;
    while ((await runBatch(database.db)) !== null) batches += 1;
    return batches;
  };

  const progress = async (id: string) => await getBulk(database.db, 'default', id);

  it('is kept for so long after it ended, and as long as it runs', async () => {
    const { bulkId: running } = await startBulk(
      database.db,
      bulkRequest('delete', { definitionKey: 'none' }),
    );
    await database.sql(`update longshore.bulk set before = now() - interval '400 days'`);
    await endedBulks(database, [33, 32, 31, 29]);
    const left = async () => (await database.sql('select from longshore.bulk')).length;
    expect([await pruneBulks(database.db, 365), await left()]).toEqual([false, 5]);
    expect([await pruneBulks(database.db, 30, 2), await left()]).toEqual([true, 3]);
    expect([await pruneBulks(database.db, 30, 2), await left()]).toEqual([false, 2]);
    expect(await progress(running)).toMatchObject({ status: 'running' });
  });

  it('retries a whole group, each job once, and nothing but the group', async () => {
    await manyDeadLetters(database, { key: 'a', count: 2_400, mistakes: [SLOW, GONE] });
    await manyDeadLetters(database, { key: 'a', tenant: 'other', count: 3, mistakes: [SLOW] });
    const criteria = { fingerprint: SLOW.fingerprint };
    expect(await previewBulk(database.db, bulkRequest('retry', criteria))).toMatchObject({
      matched: 1_200,
      matchedIsExact: true,
      sample: { length: 5 },
    });
    expect(await states()).toEqual({ failed: 2_403 });
    const { bulkId } = await startBulk(database.db, bulkRequest('retry', criteria));
    // Two schedulers that both believe to be the one: the lock decides.
    await Promise.all([workOff(), workOff(), workOff()]);
    await workOff();
    expect(await progress(bulkId)).toMatchObject({
      status: 'finished',
      filter: { status: ['failed'], fingerprint: SLOW.fingerprint },
      matched: 1_200,
      done: 1_200,
      skipped: 0,
      failed: 0,
    });
    expect(await states()).toEqual({ failed: 1_203, queued: 1_200 });
    const often = await database.sql(
      `select job_id from longshore.attempt where retried is not null
       group by job_id having count(*) > 1`,
    );
    expect(often).toEqual([]);
  });

  it('touches nothing that was made, or ended, after it was asked for', async () => {
    const worker = await newWorker(database);
    const fail = async (definitionKey: string) => {
      const id = await enqueueOne(database, { definitionKey, maxAttempts: 1 });
      const [job] = await claimAny(database, worker, 1);
      if (job) await settleAs(database, job, failure('TIMEOUT'));
      return id;
    };
    const before = await fail('a');
    const open = await enqueueOne(database, { definitionKey: 'a', maxAttempts: 1 });
    const { bulkId } = await startBulk(database.db, bulkRequest('retry', { definitionKey: 'a' }));
    const [job] = await claimAny(database, worker, 1);
    expect(job?.id).toBe(open);
    if (job) await settleAs(database, job, failure('TIMEOUT'));
    await fail('a');
    await workOff();
    expect(await progress(bulkId)).toMatchObject({ status: 'finished', matched: 1, done: 1 });
    const queued = await database.sql('select id from longshore.waiting');
    expect(queued).toEqual([{ id: before }]);
  });

  it('cancels what waits and what runs, hooks and all', async () => {
    await publishHooks(database, 'a', ['onEnd']);
    const worker = await newWorker(database);
    await enqueueOne(database, { definitionKey: 'a' });
    await claimAny(database, worker, 1);
    await enqueueOne(database, { definitionKey: 'a' });
    await enqueueOne(database, { definitionKey: 'a', delayMs: 60_000 });
    await enqueueOne(database, { definitionKey: 'a', hold: true });
    await enqueueOne(database, { definitionKey: 'b' });
    const ann = { name: 'key:ann', address: null };
    await startBulk(database.db, bulkRequest('cancel', { definitionKey: 'a' }), ann);
    const news = await runBatch(database.db);
    expect(news).toMatchObject({ changed: 4, workers: [worker], levels: { length: 3 } });
    // The other one, and the three hooks.
    expect(await states()).toEqual({ cancelled: 3, cancelling: 1, queued: 4 });
    const by = await database.sql<{ by: string }>(
      `select cancel_requested_by as by from longshore.done where state = 'cancelled'
       union all select cancel_requested_by from longshore.running`,
    );
    expect(by).toEqual(Array.from({ length: 4 }, () => ({ by: 'key:ann' })));
    const { bulkId } = await startBulk(
      database.db,
      bulkRequest('cancel', { statuses: ['scheduled'], definitionKey: 'b' }),
    );
    await workOff();
    expect(await progress(bulkId)).toMatchObject({ matched: 0, done: 0, status: 'finished' });
  });

  it('deletes what has ended', async () => {
    await manyDeadLetters(database, { key: 'a', count: 20, mistakes: [SLOW, GONE] });
    const kept = await enqueueOne(database, { definitionKey: 'a' });
    const { bulkId } = await startBulk(database.db, bulkRequest('delete', { definitionKey: 'a' }));
    await workOff();
    expect(await progress(bulkId)).toMatchObject({ done: 20 });
    expect(await database.sql('select id from longshore.job')).toEqual([{ id: kept }]);
    const revived = await database.sql('select from longshore.revived');
    expect(revived).toHaveLength(20);
  });

  it('can be stopped before its next batch', async () => {
    await manyDeadLetters(database, { key: 'a', count: 1_100, mistakes: [SLOW] });
    const { bulkId } = await startBulk(database.db, bulkRequest('retry', { definitionKey: 'a' }));
    await runBatch(database.db);
    expect(await abortBulk(database.db, 'other', bulkId)).toBeNull();
    const aborted = await abortBulk(database.db, 'default', bulkId);
    expect(aborted).toMatchObject({ status: 'aborted', done: 500 });
    expect(await runBatch(database.db)).toBeNull();
    expect(await abortBulk(database.db, 'default', bulkId)).toBeNull();
    expect(await states()).toEqual({ failed: 600, queued: 500 });
  });

  it('goes at the rate that it is given, and waits in between', async () => {
    await manyDeadLetters(database, { key: 'a', count: 25, mistakes: [SLOW] });
    const slow = bulkRequest('retry', { definitionKey: 'a' }, { ratePerSecond: 10 });
    const { bulkId } = await startBulk(database.db, slow);
    expect(await runBatch(database.db)).toMatchObject({ changed: 10 });
    expect(await runBatch(database.db)).toBeNull();
    const due = `update longshore.bulk set next_at = next_at - interval '1 s'`;
    await database.sql(due);
    expect(await runBatch(database.db)).toMatchObject({ changed: 10 });
    await database.sql(due);
    expect(await runBatch(database.db)).toMatchObject({ changed: 5 });
    expect(await progress(bulkId)).toMatchObject({ status: 'finished', done: 25 });
  });

  it('gives jobs other params and a later time', async () => {
    await manyDeadLetters(database, { key: 'a', count: 2, mistakes: [SLOW] });
    const runAt = new Date('2100-01-01T00:00:00Z');
    const how = { mode: 'later', runAt, paramsJson: '{"fixed":true}' } as const;
    await startBulk(database.db, bulkRequest('retry', { definitionKey: 'a' }, how));
    expect(await runBatch(database.db)).toMatchObject({ changed: 2, due: { length: 2 } });
    const rows = await database.sql(
      `select params, run_at from longshore.waiting join longshore.job using (shard, id)`,
    );
    const one = { params: { fixed: true }, run_at: runAt };
    expect(rows).toEqual([one, one]);
  });

  it('skips what a person got to first, and never does it twice', async () => {
    await manyDeadLetters(database, { key: 'a', count: 4, mistakes: [SLOW] });
    const ids = (
      await database.sql<{ id: string }>('select id from longshore.done order by id')
    ).map(({ id }) => id);
    const { bulkId } = await startBulk(database.db, bulkRequest('retry', { definitionKey: 'a' }));
    const now = { mode: 'now', runAt: null, paramsJson: null } as const;
    const link = await HeldLink.begin(database);
    await retryJob(link, 'default', ids[1] ?? '', now);
    await deleteJob(link, 'default', ids[2] ?? '');
    const batch = runBatch(database.db);
    await untilBlocked(database);
    await link.commit();
    expect(await batch).toMatchObject({ changed: 2 });
    expect(await progress(bulkId)).toMatchObject({ matched: 4, done: 2, skipped: 2 });
    expect(await states()).toEqual({ queued: 3 });
    const again = await retryJob(database.db, 'default', ids[0] ?? '', now);
    expect(again).toEqual({ kind: 'refused', status: 'queued' });
  });

  it('wins over a concurrent claim when it cancels', async () => {
    const worker = await newWorker(database);
    const id = await enqueueOne(database, { definitionKey: 'a', maxAttempts: 2 });
    const [job] = await claimAny(database, worker, 1);
    const { bulkId } = await startBulk(database.db, bulkRequest('cancel', { definitionKey: 'a' }));
    const link = await HeldLink.begin(database);
    if (job) await settleAs({ db: link }, job, failure('TIMEOUT'));
    const batch = runBatch(database.db);
    await untilBlocked(database);
    await link.commit();
    expect(await batch).toMatchObject({ changed: 1 });
    expect(await progress(bulkId)).toMatchObject({ done: 1, skipped: 0 });
    const cancelled = await cancelJob(database.db, 'default', id);
    expect(cancelled).toEqual({ kind: 'refused', status: 'cancelled' });
  });

  it('skips a job that cannot be changed, and notes why', async () => {
    await manyDeadLetters(database, { key: 'a', count: 3, mistakes: [SLOW] });
    await database.sql(
      `create function refuse() returns trigger language plpgsql as $$
       begin raise exception 'not this one'; end $$;
       create trigger refuse before insert on longshore.waiting for each row
       when (new.id = '${(await database.sql<{ id: string }>('select id from longshore.done order by id offset 1 limit 1'))[0]?.id}')
       execute function refuse()`,
    );
    const { bulkId } = await startBulk(database.db, bulkRequest('retry', { definitionKey: 'a' }));
    await workOff();
    expect(await progress(bulkId)).toMatchObject({
      status: 'finished',
      done: 2,
      failed: 1,
      note: expect.stringContaining('not this one'),
    });
    expect(await states()).toEqual({ failed: 1, queued: 2 });
  });

  it('is worked off by a scheduler, and listed newest first', async () => {
    await manyDeadLetters(database, { key: 'a', count: 1_200, mistakes: [SLOW, GONE] });
    const runner = bulkRunner(database.db, database.waker, silentLog, systemClock);
    onTestFinished(async () => await runner.stop());
    const first = await startBulk(
      database.db,
      bulkRequest('retry', { fingerprint: SLOW.fingerprint }),
    );
    const second = await startBulk(
      database.db,
      bulkRequest('delete', { fingerprint: GONE.fingerprint }),
    );
    await runner.start();
    await until('both are over', async () => {
      const all = await Promise.all([progress(first.bulkId), progress(second.bulkId)]);
      return all.every((one) => one?.status === 'finished');
    });
    expect(await states()).toEqual({ queued: 600 });
    const page = await listBulks(database.db, 'default', { afterId: null, limit: 1 });
    expect(page.bulks).toMatchObject([{ bulkId: second.bulkId, action: 'delete', done: 600 }]);
    const rest = await listBulks(database.db, 'default', { afterId: page.nextId, limit: 1 });
    expect(rest).toMatchObject({ bulks: [{ bulkId: first.bulkId, done: 600 }], nextId: null });
    const job = (await claimAny(database, await newWorker(database), 1))[0];
    expect(job).toMatchObject({ attempts: 2, claim: 3 });
    if (job) await settleAs(database, job, SUCCESS);
  });
});
