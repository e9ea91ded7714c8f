import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../../src/runtime/log.ts';
import { promoter } from '../../../src/scheduler/promoter.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { lockForSignals } from '../../../src/store/claim/resume.ts';
import { resolveAndRevive } from '../../../src/store/edges/revive-later.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { countStatements } from '../../support/checks/count-statements.ts';
import { claimSubject, reachOwned, type Subject } from '../../support/checks/reach-state.ts';
import {
  enqueueOne,
  failure,
  request,
  settleAs,
  settlementOf,
  SUCCESS,
} from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { until } from '../../support/until.ts';

/**
 * Any number of jobs may wait for one. What follows from its end, or from its retry, is done in rounds of
 * about a thousand, each a transaction: a statement about all of them would run into its time limit and be
 * repeated for ever.
 */
const COUNT = 10_000;
const AT_ONCE = 1_000;
/** Of a job that is queued again. */
const AT_ONCE_OF_QUEUED = 100;
const PART = 1_000;

const database = sharedDatabase();
afterEach(() => {
  vi.restoreAllMocks();
});

async function enqueueFollowers(parent: string, count: number): Promise<void> {
  for (let first = 0; first < count; first += PART) {
    const after = { jobs: [parent], onFailure: 'fail' as const };
    const part = Math.min(PART, count - first);
    await database.enqueuer.start(Array.from({ length: part }, () => request({ after })));
  }
}

/** The followers of a job, by state; those that failed did so because of it. */
async function followersOf(parent: string): Promise<Record<string, number>> {
  const rows = await database.sql<{ state: string; n: number }>(
    `select state, count(*)::int as n from longshore.edge e join (
       select id, state from longshore.waiting union all select id, state from longshore.done
     ) f on f.id = e.job_id
     where e.on_id = $1 group by state`,
    [parent],
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

const round = async () => await resolveAndRevive(database.db, 0, AT_ONCE);
const rounds = async () => {
  for (let n = 1; ; n += 1) if (!(await round()).more) return n;
};
const left = async () => await database.sql('select state from longshore.ended_watched');
const retry = async (id: string) =>
  await retryJob(database.db, 'default', id, { mode: 'now', runAt: null, paramsJson: null });
const fail = async (job: Parameters<typeof settleAs>[1]) =>
  await settleAs(database, { ...job, maxAttempts: job.attempts }, failure('HANDLER_ERROR'));
const claimAgain = async (subject: Subject) => {
  const [job] = await claimSubject(database, subject);
  if (!job) throw new Error('not claimed');
  return job;
};

describe(`a parent of ${COUNT} jobs`, { timeout: 120_000 }, () => {
  let parent: Awaited<ReturnType<typeof reachOwned>>;
  beforeAll(async () => {
    parent = await reachOwned(database);
    await enqueueFollowers(parent.id, COUNT);
  }, 120_000);

  it('fails them in rounds, and keeps its end until the last one', async () => {
    await fail(parent.job);
    const { more } = await round();
    expect(more).toBe(true);
    expect(await followersOf(parent.id)).toEqual({ failed: AT_ONCE, suspended: COUNT - AT_ONCE });
    expect(await left()).toEqual([{ state: 'failed' }]);
    const { counts } = countStatements();
    expect(await rounds()).toBe(COUNT / AT_ONCE);
    expect(counts.get('note_ends')).toBe(COUNT / AT_ONCE);
    expect(await followersOf(parent.id)).toEqual({ failed: COUNT });
    expect(await left()).toEqual([]);
  });

  it('revives them in rounds after a retry, also those that come after its new end', async () => {
    const { counts } = countStatements();
    expect(await retry(parent.id)).toMatchObject({ kind: 'changed', status: 'queued' });
    expect(counts.get('retry_jobs')).toBe(1);
    expect(await followersOf(parent.id)).toEqual({ failed: COUNT });
    expect(await left()).toEqual([{ state: null }]);
    expect(await round()).toMatchObject({ more: false, pauses: true });
    const first = AT_ONCE_OF_QUEUED;
    expect(await followersOf(parent.id)).toEqual({ suspended: first, failed: COUNT - first });
    const job = await claimAgain(parent);
    expect(await round()).toMatchObject({ more: true, pauses: false });
    const both = first + AT_ONCE;
    expect(await followersOf(parent.id)).toEqual({ suspended: both, failed: COUNT - both });
    await settleAs(database, job, SUCCESS);
    await rounds();
    expect(await followersOf(parent.id)).toEqual({ queued: COUNT });
    expect(await left()).toEqual([]);
  });
});

/** More than one transaction revives. */
const SOME = AT_ONCE + 200;

it('a parent that fails again while its followers are revived leaves none waiting', async () => {
  const parent = await reachOwned(database);
  const { id, job } = parent;
  await enqueueFollowers(id, SOME);
  await fail(job);
  await rounds();
  await retry(id);
  await round();
  const first = AT_ONCE_OF_QUEUED;
  expect(await followersOf(id)).toEqual({ suspended: first, failed: SOME - first });
  await fail(await claimAgain(parent));
  await rounds();
  expect(await followersOf(id)).toEqual({ failed: SOME });
  expect(await left()).toEqual([]);
});

it('the followers of a job that stays queued are revived with pauses, by the scheduler', async () => {
  const { id, job } = await reachOwned(database);
  await enqueueFollowers(id, SOME);
  await fail(job);
  await rounds();
  await retry(id);
  const promoting = promoter(database.db, database.waker, 60_000, silentLog);
  onTestFinished(async () => await promoting.stop());
  await promoting.start();
  await until('all wait again', async () => (await followersOf(id))['suspended'] === SOME);
  await until('nothing is left', async () => (await left()).length === 0);
});

it('a revival that fails is not blamed on an end that was taken before it', async () => {
  const parent = await reachOwned(database);
  const { id, job } = parent;
  await enqueueFollowers(id, SOME);
  await fail(job);
  await rounds();
  await retry(id);
  const other = await reachOwned(database);
  await enqueueFollowers(other.id, 1);
  await settleAs(database, other.job, SUCCESS);
  const heard: string[][] = [];
  await resolveAndRevive(database.db, 0, 1, { onTaken: (ids) => heard.push(ids) });
  expect(heard).toEqual([[other.id], [], [id]]);
  await settleAs(database, await claimAgain(parent), SUCCESS);
  await rounds();
});

it('a settlement waits for one round, and the others follow', async () => {
  const { id, job } = await reachOwned(database);
  await enqueueFollowers(id, SOME);
  const [last] = await database.sql<{ id: string }>(
    'select job_id as id from longshore.edge where on_id = $1 order by job_id desc limit 1',
    [id],
  );
  const link = await HeldLink.begin(database);
  await lockForSignals(link, 0, [last?.id ?? '']);
  const queue = postgresQueue(database.db, database.db, database.waker);
  await queue.settle(0, [settlementOf(job, SUCCESS)]);
  expect(await followersOf(id)).toEqual({ queued: AT_ONCE, suspended: SOME - AT_ONCE });
  await untilBlocked(database);
  await link.commit();
  await until('all are queued', async () => (await followersOf(id))['queued'] === SOME);
});

it('a retry that waits for a round of the resolver voids the rest of the end', async () => {
  const { id, job } = await reachOwned(database);
  await enqueueFollowers(id, SOME);
  await fail(job);
  const link = await HeldLink.begin(database);
  await resolveAndRevive(link, 0, AT_ONCE);
  const retrying = retry(id);
  await untilBlocked(database);
  await link.commit();
  expect(await retrying).toMatchObject({ kind: 'changed' });
  expect(await left()).toEqual([]);
  expect(await followersOf(id)).toEqual({ suspended: SOME });
});

it('few followers are revived in the transaction of the retry, and those of a long chain later', async () => {
  const { id, job } = await reachOwned(database);
  let last = id;
  const chain: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    last = await enqueueOne(database, { after: { jobs: [last], onFailure: 'fail' } });
    chain.push(last);
  }
  await fail(job);
  await rounds();
  await retry(id);
  const states = async () => {
    const select = `select state, count(*)::int as n from longshore.done where id = any ($1)
      group by state`;
    return await database.sql(select, [chain]);
  };
  expect(await states()).toEqual([{ state: 'failed', n: 10 }]);
  await rounds();
  expect(await states()).toEqual([]);
  expect(await left()).toEqual([]);
});

it('a parent of very many holds back no other end', async () => {
  const many = await reachOwned(database);
  await enqueueFollowers(many.id, SOME);
  const one = await reachOwned(database);
  const follower = await enqueueOne(database, { after: { jobs: [one.id], onFailure: 'fail' } });
  await settleAs(database, many.job, SUCCESS);
  await settleAs(database, one.job, SUCCESS);
  await round();
  const select = 'select state from longshore.waiting where id = $1';
  expect(await database.sql(select, [follower])).toEqual([{ state: 'queued' }]);
  expect(await left()).toEqual([{ state: 'succeeded' }]);
  await rounds();
  expect(await followersOf(many.id)).toEqual({ queued: SOME });
});
