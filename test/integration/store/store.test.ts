import { beforeEach, describe, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim } from '../../../src/store/claim/claim.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { IdempotencyConflict } from '../../../src/store/enqueue/key-holders.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { settlementStatusOf } from '../../../src/store/claim/settlement-status.ts';
import { postgresVersions, sharedDatabase } from '../../support/servers/database.ts';
import {
  claimAny,
  enqueueOne,
  failure,
  newWorker,
  request,
  settleAs,
  SUCCESS,
} from '../../support/jobs.ts';

describe.each(postgresVersions())('the store on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });
  let worker: string;

  beforeEach(async () => {
    await database.sql(`truncate longshore.job, longshore.waiting, longshore.running,
      longshore.done, longshore.attempt, longshore.dedupe, longshore.worker`);
    worker = await newWorker(database);
  });

  const view = async (jobId: string) => {
    const job = await getJob(database.db, 'default', jobId);
    if (!job) throw new Error(`no job ${jobId}`);
    return job;
  };

  const claimOne = async () => {
    const [job] = await claimAny(database, worker, 1);
    if (!job) throw new Error('nothing to claim');
    return job;
  };

  describe('enqueue', () => {
    it('stores a job that a claim then gets, with its params to the letter', async () => {
      const paramsJson = '{"b":1,"a":"\\u0000 \\ud800 é","n":0.1}';
      const id = await enqueueOne(database, { paramsJson, tags: ['x'], priority: 3 });
      expect(await view(id)).toMatchObject({
        status: 'queued',
        attempts: 0,
        maxAttempts: 3,
        priority: 3,
        tags: ['x'],
        definitionVersion: 1,
        workerId: null,
      });
      const job = await claimOne();
      expect(job).toMatchObject({ id, attempts: 1, claim: 1, paramsJson });
      expect(await view(id)).toMatchObject({ status: 'running', workerId: worker });
    });

    it('holds, delays and releases by the clock of the database', async () => {
      const held = await enqueueOne(database, { hold: true });
      const later = await enqueueOne(database, { delayMs: 60_000 });
      const past = await enqueueOne(database, { runAt: new Date('2020-01-01') });
      const heldLater = await enqueueOne(database, { hold: true, delayMs: 60_000 });
      const states = await Promise.all([held, later, past, heldLater].map(view));
      expect(states.map((job) => job.status)).toEqual([
        'created',
        'scheduled',
        'queued',
        'created',
      ]);
      expect(await releaseJob(database.db, 'default', held)).toEqual({
        kind: 'changed',
        status: 'queued',
      });
      expect(await releaseJob(database.db, 'default', heldLater)).toMatchObject({
        status: 'scheduled',
      });
      expect(await releaseJob(database.db, 'default', past)).toEqual({
        kind: 'refused',
        status: 'queued',
      });
    });

    it('makes one job for one key under 50 concurrent callers', async () => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, async () => await enqueueOne(database, { idempotencyKey: 'k' })),
      );
      expect(new Set(answers).size).toBe(1);
      expect(await database.sql('select id from longshore.job')).toHaveLength(1);
    });

    it('refuses the same key with other params, whatever the order of the keys', async () => {
      const first = await enqueueOne(database, {
        idempotencyKey: 'k',
        paramsJson: '{"a":1,"b":2}',
      });
      const same = await enqueueOne(database, { idempotencyKey: 'k', paramsJson: '{"b":2,"a":1}' });
      expect(same).toBe(first);
      await expect(
        enqueueOne(database, { idempotencyKey: 'k', paramsJson: '{"a":2}' }),
      ).rejects.toThrow(IdempotencyConflict);
      const elsewhere = { idempotencyKey: 'k', definitionKey: 'other', paramsJson: '{"a":2}' };
      expect(await enqueueOne(database, elsewhere)).not.toBe(first);
    });

    it('stores a batch wholly or not at all', async () => {
      await enqueueOne(database, { idempotencyKey: 'taken', paramsJson: '1' });
      const batch = [
        request({ idempotencyKey: 'new' }),
        request({ idempotencyKey: 'taken', paramsJson: '2' }),
      ];
      await expect(database.enqueuer.start(batch)).rejects.toMatchObject({ index: 1 });
      expect(await database.sql('select id from longshore.job')).toHaveLength(1);
      expect(await database.sql('select key from longshore.dedupe')).toHaveLength(1);
    });

    it('answers a repeated key with the job as it is now, as long as the job is kept', async () => {
      const id = await enqueueOne(database, { idempotencyKey: 'k' });
      await settleAs(database, await claimOne(), SUCCESS);
      const [again] = await database.enqueuer.start([request({ idempotencyKey: 'k' })]);
      expect(again).toEqual({ jobId: id, status: 'succeeded', created: false });
      await database.sql('delete from longshore.job');
      await database.sql('delete from longshore.done');
      expect(await enqueueOne(database, { idempotencyKey: 'k' })).not.toBe(id);
    });
  });

  describe('claim', () => {
    it('goes by priority, then by age, and never takes more than asked', async () => {
      const low = await enqueueOne(database, { priority: -5 });
      const first = await enqueueOne(database);
      const second = await enqueueOne(database);
      const high = await enqueueOne(database, { priority: 7 });
      const three = await claimAny(database, worker, 3);
      expect(three.map((job) => job.id)).toEqual([high, first, second]);
      expect((await claimAny(database, worker, 3)).map((job) => job.id)).toEqual([low]);
    });

    it('gives each of 2,000 jobs to exactly one of 16 claimers', async () => {
      await database.enqueuer.start(Array.from({ length: 2_000 }, () => request()));
      const taken: string[] = [];
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (;;) {
            const jobs = await claimAny(database, worker, 7);
            expect(jobs.length).toBeLessThanOrEqual(7);
            if (jobs.length === 0) return;
            taken.push(...jobs.map((job) => job.id));
          }
        }),
      );
      expect(taken).toHaveLength(2_000);
      expect(new Set(taken).size).toBe(2_000);
    });

    it('starts above the floor of a line', async () => {
      await enqueueOne(database);
      const [row] = await database.sql<{ queue: number; seq: string }>(
        'select queue, seq from longshore.waiting',
      );
      const line = { queue: row?.queue ?? 0, rank: 0 };
      const above = { ...line, floor: Number(row?.seq), attempts: 3 };
      expect(await claim(database.db, 0, 1, worker, [above])).toEqual([]);
      const below = { ...line, floor: Number(row?.seq) - 1, attempts: 3 };
      expect(await claim(database.db, 0, 1, worker, [below])).toHaveLength(1);
    });

    it('gives nothing to an instance that was declared dead', async () => {
      await enqueueOne(database);
      await database.sql('update longshore.worker set dead_at = now()');
      expect(await claimAny(database, worker, 1)).toEqual([]);
    });
  });

  describe('settle', () => {
    it('keeps what the job returned', async () => {
      const id = await enqueueOne(database);
      const job = await claimOne();
      const resultJson = '{"z":1,"a":"\\u0000"}';
      expect(await settleAs(database, job, { kind: 'success', resultJson })).toEqual([
        { id, levels: [] },
      ]);
      const done = await view(id);
      expect(done).toMatchObject({ status: 'succeeded', workerId: null, leaseExpiresAt: null });
      expect(JSON.stringify(done.result)).toBe(resultJson);
    });

    it('changes nothing for a stale claim', async () => {
      const id = await enqueueOne(database);
      const stale = await claimOne();
      await settleAs(database, stale, { kind: 'lost', message: 'gone' });
      const current = await claimOne();
      expect(current).toMatchObject({ id, claim: 2, attempts: 2 });
      const before = await view(id);
      expect(await settleAs(database, stale, SUCCESS)).toEqual([]);
      expect(await settleAs(database, stale, failure('HANDLER_ERROR'))).toEqual([]);
      expect(await view(id)).toEqual(before);
      expect(await settlementStatusOf(database.db, 0, id, stale.claim)).toEqual({ kind: 'stale' });
      await settleAs(database, current, SUCCESS);
      expect(await settlementStatusOf(database.db, 0, id, current.claim)).toEqual({
        kind: 'settled',
      });
    });

    it('knows a failure that is sent again, also when the job is on its next claim', async () => {
      const id = await enqueueOne(database);
      const first = await claimOne();
      await settleAs(database, first, failure('NETWORK_ERROR'));
      await database.sql(`update longshore.waiting set run_at = now() - interval '1 s'`);
      await promote(database.db, 0, 10);
      const second = await claimOne();
      expect(second).toMatchObject({ id, claim: 2 });
      expect(await settleAs(database, first, failure('NETWORK_ERROR'))).toEqual([]);
      expect(await settlementStatusOf(database.db, 0, id, first.claim)).toEqual({
        kind: 'settled',
      });
      await settleAs(database, second, SUCCESS);
      expect(await settlementStatusOf(database.db, 0, id, first.claim)).toEqual({
        kind: 'settled',
      });
    });

    it('retries with a delay, then ends as a dead letter with its error', async () => {
      const id = await enqueueOne(database, { maxAttempts: 2 });
      await settleAs(database, await claimOne(), failure('NETWORK_ERROR', 'first'));
      expect(await view(id)).toMatchObject({
        status: 'retrying',
        attempts: 1,
        error: { code: 'NETWORK_ERROR', message: 'first' },
      });
      await database.sql(`update longshore.waiting set run_at = now() - interval '1 s'`);
      expect(await promote(database.db, 0, 10)).toMatchObject({ promoted: 1, nextDueMs: null });
      await settleAs(database, await claimOne(), failure('NETWORK_ERROR', 'second'));
      expect(await view(id)).toMatchObject({
        status: 'failed',
        attempts: 2,
        error: { message: 'second' },
      });
      const attempts = await database.sql('select number from longshore.attempt order by number');
      expect(attempts).toEqual([{ number: 1 }, { number: 2 }]);
    });

    it('decides again when a cancel came in between', async () => {
      const id = await enqueueOne(database);
      const job = await claimOne();
      expect(await cancelJob(database.db, 'default', id)).toEqual({
        kind: 'changed',
        status: 'cancelling',
      });
      expect(await settleAs(database, job, failure('HANDLER_ERROR'))).toEqual([]);
      const status = await settlementStatusOf(database.db, 0, id, job.claim);
      expect(status).toEqual({ kind: 'owned', state: 'cancelling' });
      await settleAs(database, job, failure('HANDLER_ERROR'), 'cancelling');
      expect(await view(id)).toMatchObject({ status: 'cancelled' });
    });
  });

  describe('cancel', () => {
    it('ends a waiting job at once, asks a running one, refuses an ended one', async () => {
      const waiting = await enqueueOne(database);
      expect(await cancelJob(database.db, 'default', waiting)).toEqual({
        kind: 'changed',
        status: 'cancelled',
      });
      expect(await claimAny(database, worker, 1)).toEqual([]);
      expect(await cancelJob(database.db, 'default', waiting)).toEqual({
        kind: 'refused',
        status: 'cancelled',
      });
      const running = await enqueueOne(database);
      await claimOne();
      for (let repeat = 0; repeat < 2; repeat += 1) {
        expect(await cancelJob(database.db, 'default', running)).toMatchObject({
          status: 'cancelling',
        });
      }
      expect(await cancelJob(database.db, 'other-tenant', running)).toEqual({ kind: 'missing' });
      expect(await cancelJob(database.db, 'default', 'nonsense')).toEqual({ kind: 'missing' });
    });
  });

  describe('the guard', () => {
    it('refuses an illegal move, so that no test can make one unnoticed', async () => {
      const id = await enqueueOne(database);
      await expect(
        database.sql(`with gone as (delete from longshore.waiting returning *)
        insert into longshore.done (shard, id, queue, state, rank, attempts, max_attempts, claim_no,
          interruptions, finished_at, result)
        select shard, id, queue, 'succeeded', rank, 1, 3, 1, 0, now(), 'null' from gone`),
      ).rejects.toThrow(/illegal move/);
      await expect(database.sql('delete from longshore.waiting')).rejects.toThrow(/0 places/);
      expect((await view(id)).status).toBe('queued');
    });
  });
});
