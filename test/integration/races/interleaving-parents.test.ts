import { expect, it } from 'vitest';
import type { Queryable, Statement } from '../../../src/store/connection/db.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { signalJob } from '../../../src/store/change/signal-job.ts';
import { settleAndClaim } from '../../../src/store/claim/settle-and-claim.ts';
import { resolveEnded } from '../../../src/store/edges/resolve-ended.ts';
import { enqueueWithin } from '../../../src/store/enqueue/enqueue.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import { claim, type ClaimedJob, levelValues } from '../../../src/store/claim/claim.ts';
import { reachOwned, reachState } from '../../support/checks/reach-state.ts';
import { failure, request, settleAs, SUCCESS } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, statementNamed, untilBlocked } from '../../support/servers/held-link.ts';

/**
 * A parent ends at the moment in which a job is enqueued after it, or two parents of one job end at the
 * same moment. Neither transaction sees the other, so each could leave the job to the other: it would
 * wait for ever.
 */
const database = sharedDatabase();

const statusOf = async (id: string) => (await getJob(database.db, 'default', id))?.status;
const entryAfter = async (jobs: readonly string[]) =>
  await database.enqueuer.prepare(request({ after: { jobs, onFailure: 'fail' } }));
const enqueueAfter = async (db: Queryable, jobs: readonly string[]) => {
  const [answer] = await enqueueWithin(db, [await entryAfter(jobs)]);
  return answer?.jobId ?? '';
};
const resolve = async (db: Queryable = database.db) => await resolveEnded(db, 0, 100);

/** As a worker settles a plain success: by the short statement, of a few jobs or of many. */
const settlePlain = async (db: Queryable, job: ClaimedJob, of: 'few' | 'many') => {
  const transition = decide({ ...job, ...DEFAULT_RULES, state: 'running' }, SUCCESS, 0);
  const { id, claim } = job;
  const settlement = { id, claim, was: 'running', transition, usage: NO_USAGE } as const;
  const other = { ...settlement, claim: 0 };
  const settlements = of === 'few' ? [settlement] : [settlement, other, other, other];
  const batch = { settlements, limit: 0, instance: id, levels: [] };
  const { settled } = await settleAndClaim(db, 0, batch);
  return settled?.has(id) ?? true;
};

it.each(['few', 'many'] as const)(
  'a parent that succeeds while a job is enqueued after it is left to the long statement (%s)',
  async (of) => {
    const { id, job } = await reachOwned(database);
    const link = await HeldLink.begin(database);
    const child = await enqueueAfter(link, [id]);
    const settling = settlePlain(database.db, job, of);
    await untilBlocked(database);
    await link.commit();
    expect(await settling).toBe(false);
    await settleAs(database, job, SUCCESS);
    expect(await statusOf(child)).toBe('suspended');
    await resolve();
    expect(await statusOf(child)).toBe('queued');
  },
);

it.each(['few', 'many'] as const)(
  'a job that is enqueued while its parent succeeds finds it ended (%s)',
  async (of) => {
    const { id, job } = await reachOwned(database);
    const link = await HeldLink.begin(database);
    expect(await settlePlain(link, job, of)).toBe(true);
    const enqueuing = database.db.transaction(async (tx) => await enqueueAfter(tx, [id]));
    await untilBlocked(database);
    await link.commit();
    const child = await enqueuing;
    await resolve();
    expect(await statusOf(child)).toBe('queued');
  },
);

/** The statement of a claim, which stops at a lock of the test after it has taken its snapshot. */
function stoppedClaim(gate: number): Statement<ClaimedJob> {
  const { text } = statementNamed('claim');
  const stopped = text.replace('select l.*, k.keyed', `$&, pg_advisory_xact_lock(${gate}) as gate`);
  expect(stopped).not.toBe(text);
  return { name: 'stopped_claim', text: stopped };
}

it('a claim that began before its job was watched leaves it, and the next one takes it', async () => {
  const { id, queue, worker } = await reachState(database, 'queued');
  const [gate, claimer] = [await HeldLink.begin(database), await HeldLink.begin(database)];
  const lock = { name: 'shut_gate', text: 'select pg_advisory_xact_lock(4217)' };
  await gate.run(lock);
  const levels = levelValues([{ queue, rank: 0, floor: 0, attempts: 3 }]);
  const claiming = claimer.run(stoppedClaim(4217), [0, 10, worker, ...levels]);
  await untilBlocked(database);
  await database.db.transaction(async (tx) => await enqueueAfter(tx, [id]));
  await gate.commit();
  expect(await claiming).toEqual([]);
  await claimer.commit();
  const places = `select 'waiting' as place from longshore.waiting where id = $1
    union all select 'running' from longshore.running where id = $1`;
  expect(await database.sql(places, [id])).toEqual([{ place: 'waiting' }]);
  const level = { queue, rank: 0, floor: 0, attempts: 3 };
  expect(await claim(database.db, 0, 10, worker, [level])).toMatchObject([{ id }]);
  expect(await database.sql(places, [id])).toEqual([{ place: 'running' }]);
});

it.each(['created', 'scheduled', 'queued', 'retrying', 'suspended'] as const)(
  'a parent that is %s keeps every column when it is watched',
  async (state) => {
    const { id } = await reachState(database, state);
    const row = async () =>
      await database.sql('select * from longshore.waiting where id = $1', [id]);
    const [before] = await row();
    await database.db.transaction(async (tx) => await enqueueAfter(tx, [id]));
    expect(await row()).toEqual([{ ...before, watched: true }]);
  },
);

it('the end of a parent moves on a job that is just being watched itself', async () => {
  const { id, job } = await reachOwned(database);
  const child = await database.db.transaction(async (tx) => await enqueueAfter(tx, [id]));
  const link = await HeldLink.begin(database);
  await enqueueAfter(link, [child]);
  await settleAs(database, job, SUCCESS);
  const resolving = resolve();
  await untilBlocked(database);
  await link.commit();
  await resolving;
  expect(await statusOf(child)).toBe('queued');
});

it('a signal resumes a job that is just being watched', async () => {
  const { id } = await reachState(database, 'suspended');
  const link = await HeldLink.begin(database);
  await enqueueAfter(link, [id]);
  const signalling = signalJob(database.db, 'default', id, { name: 'go', payloadJson: '1' });
  await untilBlocked(database);
  await link.commit();
  await signalling;
  expect(await statusOf(id)).toBe('queued');
});

it('a second job after a watched parent is not missed by its end', async () => {
  const { id, job } = await reachOwned(database);
  await database.db.transaction(async (tx) => await enqueueAfter(tx, [id]));
  const link = await HeldLink.begin(database);
  const child = await enqueueAfter(link, [id]);
  const settling = settleAs(database, job, SUCCESS);
  await untilBlocked(database);
  await resolve();
  await link.commit();
  expect(await settling).toMatchObject([{ id, watched: true }]);
  await resolve();
  expect(await statusOf(child)).toBe('queued');
});

it('two resolvers that each see one of two parents end move the job once', async () => {
  const [one, two] = [await reachOwned(database), await reachOwned(database)];
  const child = await database.db.transaction(
    async (tx) => await enqueueAfter(tx, [one.id, two.id]),
  );
  await settleAs(database, one.job, SUCCESS);
  const link = await HeldLink.begin(database);
  await resolve(link);
  await settleAs(database, two.job, SUCCESS);
  const second = resolve();
  await untilBlocked(database);
  expect(await statusOf(child)).toBe('suspended');
  await link.commit();
  const { levels } = await second;
  expect(levels).toHaveLength(1);
  expect(await statusOf(child)).toBe('queued');
});

it('what a resolver took is there again when it dies', async () => {
  const { id, job } = await reachOwned(database);
  const child = await database.db.transaction(async (tx) => await enqueueAfter(tx, [id]));
  await settleAs(database, job, SUCCESS);
  const link = await HeldLink.begin(database);
  await resolve(link);
  expect(await resolve()).toEqual({ levels: [], more: false, revival: false });
  await link.rollback();
  expect(await statusOf(child)).toBe('suspended');
  await resolve();
  expect(await statusOf(child)).toBe('queued');
});

it('a parent that is retried while a job is enqueued after it is waited for', async () => {
  const { id } = await reachState(database, 'failed');
  const link = await HeldLink.begin(database);
  const child = await enqueueAfter(link, [id]);
  const again = { mode: 'now', runAt: null, paramsJson: null } as const;
  const retrying = retryJob(database.db, 'default', id, again);
  await untilBlocked(database);
  await link.commit();
  expect(await retrying).toMatchObject({ kind: 'changed', status: 'queued' });
  await resolve();
  expect(await statusOf(child)).toBe('suspended');
});

it('a cancelled child that is retried while its parent ends is not forgotten', async () => {
  const { id, job } = await reachOwned(database);
  const child = await database.db.transaction(async (tx) => await enqueueAfter(tx, [id]));
  await cancelJob(database.db, 'default', child);
  await settleAs(database, job, failure('NOT_FOUND'));
  const link = await HeldLink.begin(database);
  const again = { mode: 'now', runAt: null, paramsJson: null } as const;
  expect(await retryJob(link, 'default', child, again)).toMatchObject({ status: 'suspended' });
  const resolving = resolve();
  await untilBlocked(database);
  await link.commit();
  await resolving;
  expect(await statusOf(child)).toBe('failed');
});
