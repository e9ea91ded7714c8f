import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { WAITING_STATES } from '../../../src/core/job/job.ts';
import { buildServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { expireJobs } from '../../../src/store/claim/expire.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readEvents } from '../../../src/store/read/read-events.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { HeldLink } from '../../support/servers/held-link.ts';
import { enqueueOne } from '../../support/jobs.ts';
import {
  claimSubject,
  reachOwned,
  reachState,
  type Subject,
} from '../../support/checks/reach-state.ts';
import { jobEnded, scheduling } from '../../support/servers/worker.ts';

let database: TestDatabase;
let app: FastifyInstance;

beforeAll(async () => {
  database = await testDatabase();
  const { db, enqueuer } = database;
  app = buildServer({ db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' });
});
afterAll(async () => {
  await app.close();
  await database.close();
});

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
    const told = await readEvents(database.db, 'default', subject.id, history);
    expect(told?.events.at(-1)).toMatchObject({ type: 'failed', payload: { error: {} } });
    expect(told?.ended).toBe(true);
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
    const id = await enqueueOne(database, { definitionKey: 'nobody', expiresAt });
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
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/jobs',
      headers: { host: 'localhost', 'content-type': 'application/json' },
      payload: JSON.stringify({ definitionKey: 'a', ...fields }),
    });
    const { errors, jobId } = answer.json<{ errors?: { pointer: string }[]; jobId: string }>();
    return { status: answer.statusCode, pointers: errors?.map(({ pointer }) => pointer), jobId };
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
