import { describe, expect, it, onTestFinished } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { WAITING_STATES } from '../../../src/core/job/job.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { expireJobs } from '../../../src/store/claim/expire.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readEvents } from '../../../src/store/read/read-events.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';
import { HeldLink } from '../../support/servers/held-link.ts';
import { enqueueOne } from '../../support/jobs.ts';
import {
  claimSubject,
  reachOwned,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';
import { jobEnded, scheduling } from '../../support/servers/worker.ts';

const database = sharedDatabase();
const app = sharedServer(database);

const HOUR_MS = 3_600_000;
const view = async (id: string) => await getJob(database.db, 'default', id);
const expire = async (limit = 100) => await expireJobs(database.db, 0, limit);

/** Its time is over since a second, or will be in an hour. */
async function setExpiry({ id }: Pick<Subject, 'id'>, over = true): Promise<void> {
  const at = `now() ${over ? "- interval '1 s'" : "+ interval '1 h'"}`;
  for (const table of ['waiting', 'running']) {
    await database.sql(`update longshore.${table} set expires_at = ${at} where id = $1`, [id]);
  }
}

describe('a job that has not begun by its expiry', () => {
  it.each(WAITING_STATES)('fails, being %s', async (state) => {
    const subject = await reachState(database, state);
    const { attempts } = (await view(subject.id)) ?? {};
    await setExpiry(subject, false);
    expect(await expire()).toMatchObject({ ids: [], nextMs: expect.any(Number) });
    await setExpiry(subject);
    expect(await expire()).toMatchObject({ ids: [subject.id], more: false });
    expect(await view(subject.id)).toMatchObject({
      status: 'failed',
      attempts,
      error: { code: 'EXPIRED', message: expect.stringMatching(/^it had not begun by 2/) },
    });
    const history = { afterId: null, limit: 50 };
    const read = await readEvents(database.db, 'default', subject.id, history);
    expect(read?.events.at(-1)).toMatchObject({ type: 'failed', payload: { error: {} } });
    expect(read?.ended).toBe(true);
  });

  it('is never claimed, also before the promoter has failed it', async () => {
    const subject = await reachState(database, 'queued');
    await setExpiry(subject);
    expect(await claimSubject(database, subject)).toEqual([]);
    const next = await enqueueOne(database, { definitionKey: `key-${subject.worker}` });
    expect(await claimSubject(database, subject)).toMatchObject([{ id: next }]);
    await expire();
  });

  it('is left alone once it runs', async () => {
    const subject = await reachOwned(database);
    await setExpiry(subject);
    expect(await expire()).toMatchObject({ ids: [] });
    expect(await view(subject.id)).toMatchObject({ status: 'running' });
  });

  it('runs its hooks', async () => {
    const info = definitionInfo({ key: 'hooked' }, { paramsSchema: null, hooks: ['onFail'] });
    await publishDefinitions(database.db, [info]);
    const id = await enqueueOne(database, { definitionKey: 'hooked' });
    await setExpiry({ id });
    expect((await expire()).levels).toHaveLength(1);
    const hook = `select params ->> 'jobId' as id from longshore.job where hook = 'onFail'`;
    expect(await database.sql(hook)).toEqual([{ id }]);
  });

  it('ends in batches, the longest overdue first', async () => {
    const ids = [];
    for (let n = 0; n < 5; n += 1) ids.push((await reachState(database, 'queued')).id);
    for (const id of ids.toReversed()) await setExpiry({ id });
    expect(await expire(3)).toMatchObject({
      more: true,
      ids: expect.objectContaining({ length: 3 }),
    });
    expect(await expire(3)).toMatchObject({
      more: false,
      ids: expect.objectContaining({ length: 2 }),
    });
  });

  it('ends by itself where a scheduler runs', async () => {
    onTestFinished(await scheduling(database));
    const expiresAt = new Date(Date.now() + 300);
    const id = await enqueueOne(database, { definitionKey: 'unknown', expiresAt });
    expect(await jobEnded(database, id)).toMatchObject({ error: { code: 'EXPIRED' } });
  });
});

describe('expiry and concurrent changes', () => {
  it('a cancel that is open is not waited for, and wins', async () => {
    const subject = await reachState(database, 'queued');
    await setExpiry(subject);
    const link = await HeldLink.begin(database);
    await cancelJob(link, 'default', subject.id);
    expect(await expire()).toMatchObject({ ids: [], more: false });
    await link.commit();
    expect(await view(subject.id)).toMatchObject({ status: 'cancelled' });
  });

  it('a claim that is open is not waited for, and wins', async () => {
    const subject = await reachState(database, 'queued');
    await setExpiry(subject, false);
    const link = await HeldLink.begin(database);
    expect(await claimSubject({ db: link }, subject)).toHaveLength(1);
    expect(await expire()).toMatchObject({ ids: [] });
    await link.commit();
    expect(await view(subject.id)).toMatchObject({ status: 'running' });
  });
});

describe('expiresAt', () => {
  const post = async (fields: object) => {
    const payload = { definitionKey: 'a', ...fields };
    const { status, body } = await callAs(app, null, 'POST', '/v1/jobs', { payload });
    const { errors, jobId } = body as { errors?: { pointer: string }[]; jobId: string };
    return { status, pointers: errors?.map(({ pointer }) => pointer), jobId };
  };

  it('is a time to come, and later than runAt', async () => {
    const past = new Date(Date.now() - 1_000);
    expect(await post({ expiresAt: past })).toMatchObject({
      status: 400,
      pointers: ['/expiresAt'],
    });
    const [soon, late] = [1, 2].map((hours) => new Date(Date.now() + hours * HOUR_MS));
    const never = { runAt: late, expiresAt: soon };
    expect(await post(never)).toMatchObject({ status: 400, pointers: ['/expiresAt'] });
    expect((await post({ runAt: soon, expiresAt: late })).status).toBe(202);
  });

  it('is shown as long as it counts', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    const { jobId } = await post({ expiresAt });
    expect(await view(jobId)).toMatchObject({ expiresAt });
    await cancelJob(database.db, 'default', jobId);
    expect(await view(jobId)).toMatchObject({ expiresAt: null });
  });
});
