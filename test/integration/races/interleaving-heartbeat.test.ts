import { describe, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import {
  buryWorkers,
  findOrphans,
  heartbeat,
  retireWorker,
} from '../../../src/store/workers/workers.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import { claimSubject, reachState, type Subject } from '../../support/checks/reach-state.ts';

/**
 * A heartbeat beside everything that changes what a worker owns. It waits only for
 * writes to the worker itself, and it reads what is committed: a worker that hears of a claim
 * too early, or of an end too early, would run or kill the wrong job.
 */
const database = sharedDatabase();

const LOST = { kind: 'lost', message: 'gone' } as const;

const owned = async (): Promise<Subject & { job: ClaimedJob }> => {
  const subject = await reachState(database, 'running');
  if (!subject.job) throw new Error('not claimed');
  return { ...subject, job: subject.job };
};

const beat = async ({ worker }: Subject, db: Queryable = database.db) => {
  const { alive, owned: jobs } = await heartbeat(db, 0, worker, 60_000);
  return { alive, owned: jobs.map(({ state, claim }) => ({ state, claim })) };
};

const RUNNING = { alive: true, owned: [{ state: 'running', claim: 1 }] };
const IDLE = { alive: true, owned: [] };

describe('heartbeat and claim', () => {
  it('claim comes first: the answer includes it after the commit', async () => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    expect(await claimSubject({ db: link }, subject)).toHaveLength(1);
    expect(await beat(subject)).toEqual(IDLE);
    await link.commit();
    expect(await beat(subject)).toEqual(RUNNING);
  });

  it('heartbeat comes first: the claim does not wait for it', async () => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    expect(await beat(subject, link)).toEqual(IDLE);
    expect(await claimSubject(database, subject)).toHaveLength(1);
    await link.commit();
    expect(await beat(subject)).toEqual(RUNNING);
  });
});

describe('heartbeat and settle', () => {
  it.each([
    ['commits', IDLE],
    ['rolls back', RUNNING],
  ])('settle comes first and %s: until then the claim holds', async (end, answer) => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, SUCCESS);
    expect(await beat(subject)).toEqual(RUNNING);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await beat(subject)).toEqual(answer);
  });

  it('heartbeat comes first: the settle does not wait for it', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    expect(await beat(subject, link)).toEqual(RUNNING);
    expect(await settleAs(database, subject.job, SUCCESS)).toHaveLength(1);
    await link.commit();
    expect(await beat(subject)).toEqual(IDLE);
  });
});

describe('heartbeat and cancel', () => {
  it('cancel comes first: the request travels when it is committed', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    expect(await beat(subject)).toEqual(RUNNING);
    await link.commit();
    expect(await beat(subject)).toEqual({
      alive: true,
      owned: [{ state: 'cancelling', claim: 1 }],
    });
  });

  it('heartbeat comes first: the cancel does not wait for it, and the next beat has it', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    expect(await beat(subject, link)).toEqual(RUNNING);
    expect(await cancelJob(database.db, 'default', subject.id)).toMatchObject({ kind: 'changed' });
    await link.commit();
    expect(await beat(subject)).toMatchObject({ owned: [{ state: 'cancelling' }] });
  });
});

describe('heartbeat and the reaper', () => {
  it('a dead worker learns it before its jobs are recovered, and after', async () => {
    const subject = await owned();
    await retireWorker(database.db, 0, subject.worker);
    const link = await HeldLink.begin(database);
    await settleAs({ db: link }, subject.job, LOST);
    expect(await beat(subject)).toEqual({ ...RUNNING, alive: false });
    await link.commit();
    expect(await beat(subject)).toEqual({ alive: false, owned: [] });
  });

  it('retirement comes first: the heartbeat waits, and is refused', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    await retireWorker(link, 0, subject.worker);
    const beating = beat(subject);
    await untilBlocked(database);
    await link.commit();
    expect(await beating).toMatchObject({ alive: false });
  });

  it('heartbeat comes first: the retirement waits, and holds from then on', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    expect(await beat(subject, link)).toEqual(RUNNING);
    const retiring = retireWorker(database.db, 0, subject.worker);
    await untilBlocked(database);
    await link.commit();
    await retiring;
    expect(await beat(subject)).toMatchObject({ alive: false });
  });
});

describe('heartbeat and heartbeat', () => {
  it('of one worker wait for each other, and both renew', async () => {
    const subject = await owned();
    const link = await HeldLink.begin(database);
    expect(await beat(subject, link)).toEqual(RUNNING);
    const second = beat(subject);
    await untilBlocked(database);
    await link.commit();
    expect(await second).toEqual(RUNNING);
  });
});

describe('burial and claim', () => {
  it('burial comes first: a claim that did not see it is found as an orphan', async () => {
    const subject = await reachState(database, 'queued');
    const late = { ...subject, worker: await newWorker(database, -1_000) };
    const link = await HeldLink.begin(database);
    const buried = (await buryWorkers(link, 0)).map(({ instance }) => instance);
    expect(buried).toContain(late.worker);
    expect(await claimSubject(database, late)).toHaveLength(1);
    await link.commit();
    const orphans = (await findOrphans(database.db, 0, 1_000)).map(({ id }) => id);
    expect(orphans).toContain(subject.id);
  });

  it('burial is committed: the dead claim nothing', async () => {
    const subject = await reachState(database, 'queued');
    const late = { ...subject, worker: await newWorker(database, -1_000) };
    await buryWorkers(database.db, 0);
    expect(await claimSubject(database, late)).toEqual([]);
    expect(await claimSubject(database, subject)).toHaveLength(1);
  });
});
