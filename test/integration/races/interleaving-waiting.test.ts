import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeJobId } from '../../../src/core/job/job-id.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { releaseJob } from '../../../src/store/change/release-job.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, statementNamed, untilBlocked } from '../../support/servers/held-link.ts';
import { enqueueOne, request } from '../../support/jobs.ts';
import {
  claimSubject,
  lookAt,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';

/** Two sides that want the same waiting job, or the same key, at the same moment. */
const database = sharedDatabase();

const stateOf = async (subject: Subject) => (await lookAt(database, subject)).state;

const cancel = async ({ id }: Subject) => await cancelJob(database.db, 'default', id);

describe('claim and claim', () => {
  it('never give one job to two, while the first is open and after it commits', async () => {
    const subject = await reachState(database, 'queued');
    const second = await enqueueOne(database, { definitionKey: `key-${subject.worker}` });
    const link = await HeldLink.begin(database);
    const first = await claimSubject({ db: link }, subject);
    expect(first.map((job) => job.id)).toEqual([subject.id]);
    expect((await claimSubject(database, subject)).map((job) => job.id)).toEqual([second]);
    expect(await claimSubject(database, subject)).toEqual([]);
    await link.commit();
    expect(await claimSubject(database, subject)).toEqual([]);
  });

  it('give the job to the other when the first rolls back', async () => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    expect(await claimSubject({ db: link }, subject)).toHaveLength(1);
    expect(await claimSubject(database, subject)).toEqual([]);
    await link.rollback();
    const [job] = await claimSubject(database, subject);
    expect(job).toMatchObject({ id: subject.id, claim: 1, attempts: 1 });
  });
});

describe('cancel and claim', () => {
  it.each([
    ['commits', 'cancelled', 0],
    ['rolls back', 'running', 1],
  ])('cancel comes first and %s; a claim does not wait for it', async (end, state, taken) => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    expect(await claimSubject(database, subject)).toEqual([]);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await claimSubject(database, subject)).toHaveLength(taken);
    expect(await stateOf(subject)).toBe(state);
  });

  it.each([
    ['commits', 'cancelling'],
    ['rolls back', 'cancelled'],
  ])('claim comes first and %s, so the cancel makes it %s', async (end, state) => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    expect(await claimSubject({ db: link }, subject)).toHaveLength(1);
    const cancelling = cancel(subject);
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await cancelling).toEqual({ kind: 'changed', status: state });
    expect(await stateOf(subject)).toBe(state);
  });
});

describe('cancel and cancel', () => {
  it('of a waiting job: the second learns that it has ended', async () => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    expect(await cancelJob(link, 'default', subject.id)).toMatchObject({ status: 'cancelled' });
    const second = cancel(subject);
    await untilBlocked(database);
    await link.commit();
    expect(await second).toEqual({ kind: 'refused', status: 'cancelled' });
  });
});

describe('release and claim', () => {
  it.each([
    ['commits', 1],
    ['rolls back', 0],
  ])('release comes first and %s; a claim does not wait for it', async (end, taken) => {
    const subject = await reachState(database, 'created');
    const link = await HeldLink.begin(database);
    await releaseJob(link, 'default', subject.id);
    expect(await claimSubject(database, subject)).toEqual([]);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await claimSubject(database, subject)).toHaveLength(taken);
  });

  it('claim comes first, and a release is refused without waiting', async () => {
    const subject = await reachState(database, 'queued');
    const link = await HeldLink.begin(database);
    expect(await claimSubject({ db: link }, subject)).toHaveLength(1);
    const answer = await releaseJob(database.db, 'default', subject.id);
    expect(answer).toEqual({ kind: 'refused', status: 'queued' });
    await link.commit();
    expect(await releaseJob(database.db, 'default', subject.id)).toEqual({
      kind: 'refused',
      status: 'running',
    });
  });
});

describe('release and release', () => {
  it.each([
    ['commits', { kind: 'refused', status: 'queued' }],
    ['rolls back', { kind: 'changed', status: 'queued' }],
  ])('the first %s, and the second gets that answer', async (end, answer) => {
    const subject = await reachState(database, 'created');
    const link = await HeldLink.begin(database);
    expect(await releaseJob(link, 'default', subject.id)).toMatchObject({ kind: 'changed' });
    const second = releaseJob(database.db, 'default', subject.id);
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    expect(await second).toEqual(answer);
    expect(await stateOf(subject)).toBe('queued');
  });
});

describe('release and cancel', () => {
  it('release comes first, and what is cancelled is the released job', async () => {
    const subject = await reachState(database, 'created');
    const link = await HeldLink.begin(database);
    expect(await releaseJob(link, 'default', subject.id)).toMatchObject({ status: 'queued' });
    const cancelling = cancel(subject);
    await untilBlocked(database);
    await link.commit();
    expect(await cancelling).toEqual({ kind: 'changed', status: 'cancelled' });
    expect(await claimSubject(database, subject)).toEqual([]);
  });

  it('cancel comes first, and the release is refused', async () => {
    const subject = await reachState(database, 'created');
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    const releasing = releaseJob(database.db, 'default', subject.id);
    await untilBlocked(database);
    await link.commit();
    expect(await releasing).toEqual({ kind: 'refused', status: 'cancelled' });
  });
});

describe('promote and the others', () => {
  const due = async () => {
    const subject = await reachState(database, 'retrying');
    const past = `update longshore.waiting set run_at = now() - interval '1 hour' where id = $1`;
    await database.sql(past, [subject.id]);
    return subject;
  };

  it('promote comes first, and what is cancelled is the queued job', async () => {
    const subject = await due();
    const link = await HeldLink.begin(database);
    expect((await promote(link, 0, 1_000)).promoted).toBeGreaterThan(0);
    const cancelling = cancel(subject);
    await untilBlocked(database);
    await link.commit();
    expect(await cancelling).toEqual({ kind: 'changed', status: 'cancelled' });
    expect(await stateOf(subject)).toBe('cancelled');
  });

  it('cancel comes first, and the promoter passes by without waiting', async () => {
    const subject = await due();
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    await promote(database.db, 0, 1_000);
    await link.commit();
    expect(await stateOf(subject)).toBe('cancelled');
  });

  it('promote comes first, and a claim passes by until it is committed', async () => {
    const subject = await due();
    const link = await HeldLink.begin(database);
    expect((await promote(link, 0, 1_000)).promoted).toBeGreaterThan(0);
    expect(await claimSubject(database, subject)).toEqual([]);
    await link.commit();
    expect(await claimSubject(database, subject)).toMatchObject([{ id: subject.id, claim: 2 }]);
  });

  it('release comes first with a later time, and the promoter passes by', async () => {
    const subject = await reachState(database, 'created');
    const at = async (when: string) =>
      await database.sql(`update longshore.waiting set run_at = ${when} where id = $1`, [
        subject.id,
      ]);
    await at(`now() + interval '1 hour'`);
    const link = await HeldLink.begin(database);
    expect(await releaseJob(link, 'default', subject.id)).toMatchObject({ status: 'scheduled' });
    await promote(database.db, 0, 1_000);
    await link.commit();
    expect(await stateOf(subject)).toBe('scheduled');
    await at(`now() - interval '1 hour'`);
    await promote(database.db, 0, 1_000);
    expect(await stateOf(subject)).toBe('queued');
  });

  it('two promoters share what is due and promote each job once', async () => {
    await promote(database.db, 0, 1_000);
    const subjects = await Promise.all(Array.from({ length: 6 }, due));
    const link = await HeldLink.begin(database);
    expect(await promote(link, 0, 3)).toMatchObject({ promoted: 3 });
    expect(await promote(database.db, 0, 1_000)).toMatchObject({ promoted: 3 });
    await link.commit();
    expect(await promote(database.db, 0, 1_000)).toMatchObject({ promoted: 0 });
    for (const subject of subjects) expect(await stateOf(subject)).toBe('queued');
  });
});

describe('two enqueues of one idempotency key', () => {
  /** The first one's statement, as the store sends it, with its transaction left open. */
  const hold = async (key: string) => {
    const other = await enqueueOne(database, { definitionKey: 'keyed' });
    const [queue] = await database.sql<{ queue: number }>(
      'select queue from longshore.job where id = $1',
      [other],
    );
    const id = makeJobId({ timeMs: Date.now(), sequence: 0, random: [1, 1], shard: 0 });
    const sha = createHash('sha256').update('{}').digest('hex');
    const row = {
      n: 0,
      id,
      queue: queue?.queue,
      params: '{}',
      scope: 'idempotency\ndefault\nkeyed',
      idempotency_key: key,
      params_sha: sha,
      rank: 0,
      max_attempts: 3,
      hold: false,
    };
    const link = await HeldLink.begin(database);
    const stored = await link.run(statementNamed('enqueue'), [0, JSON.stringify([row])]);
    expect(stored).toMatchObject([{ n: 0, state: 'queued' }]);
    return { link, id };
  };

  const keyed = (idempotencyKey: string) => request({ definitionKey: 'keyed', idempotencyKey });

  it('the first commits, and the second is answered with its job', async () => {
    const { link, id } = await hold('a');
    const second = database.enqueuer.start([keyed('a')]);
    await untilBlocked(database);
    await link.commit();
    expect(await second).toEqual([{ jobId: id, status: 'queued', created: false }]);
  });

  it('the first rolls back, and the second makes the job', async () => {
    const { link, id } = await hold('b');
    const second = database.enqueuer.start([keyed('b'), keyed('c')]);
    await untilBlocked(database);
    await link.rollback();
    const answers = await second;
    expect(answers).toMatchObject([{ created: true }, { created: true }]);
    expect(answers.map(({ jobId }) => jobId)).not.toContain(id);
  });
});
