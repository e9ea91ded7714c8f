import { beforeAll, describe, expect, it } from 'vitest';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import type { OutcomesView } from '../../../src/core/dependency/outcomes.ts';
import type { RelatedJobs } from '../../../src/core/dependency/related.ts';
import { resolveEnded } from '../../../src/store/edges/resolve-ended.ts';
import { type NewChild, spawnChildren } from '../../../src/store/edges/spawn-children.ts';
import { reachOwned } from '../../support/checks/reach-state.ts';
import {
  claimAny,
  enqueueOne,
  failure,
  newWorker,
  request,
  settleAs,
  SUCCESS,
} from '../../support/jobs.ts';
import { newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** Jobs after other jobs, over HTTP. */

const database = sharedDatabase();
const server = sharedServer(database);
const keys: Record<string, string> = {};

beforeAll(async () => {
  for (const tenant of ['acme', 'rival']) {
    await newTenant(database, tenant);
    keys[tenant] = (await newKey(database, tenant, 'jobs:read', 'jobs:write')).key;
  }
  keys['default'] = (await newKey(database, 'default', 'jobs:read')).key;
});

const as = (tenant: string) => ({ authorization: `Bearer ${keys[tenant]}` });
const parentOf = async (tenant: string) =>
  await enqueueOne(database, { tenant, definitionKey: 'first' });
const post = async (tenant: string, body: object, url = '/v1/jobs') =>
  await server.inject({ method: 'POST', url, headers: as(tenant), payload: body });
const related = async (tenant: string, id: string) =>
  await server.inject({ url: `/v1/jobs/${id}/related`, headers: as(tenant) });
const outcomes = async (tenant: string, id: string) =>
  await server.inject({ url: `/v1/jobs/${id}/outcomes`, headers: as(tenant) });

describe('POST /v1/jobs with after', () => {
  it('stores a suspended job, which says what it waits for', async () => {
    const parent = await parentOf('acme');
    const answer = await post('acme', { definitionKey: 'second', after: [parent] });
    expect(answer.statusCode).toBe(202);
    const { jobId, status } = answer.json<{ jobId: string; status: string }>();
    expect(status).toBe('suspended');
    const job = await server.inject({ url: `/v1/jobs/${jobId}`, headers: as('acme') });
    expect(job.json()).toMatchObject({ status: 'suspended', waitsFor: { jobs: 'parents' } });
  });

  it('answers a parent of another tenant like one that there is not', async () => {
    const [own, foreign] = [await parentOf('acme'), await parentOf('rival')];
    const unknown = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
    const refusal = async (id: string) => {
      const answer = await post('acme', { definitionKey: 'second', after: [own, id] });
      const detail = `there is no job ${id}`;
      expect(answer.json()).toMatchObject({ errors: [{ pointer: '/after/1', detail }] });
      return answer.statusCode;
    };
    expect([await refusal(foreign), await refusal(unknown)]).toEqual([400, 400]);
    expect((await related('acme', own)).json()).toMatchObject({ followers: [] });
  });

  it('points into a batch, of which nothing is stored', async () => {
    const unknown = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
    const parent = await parentOf('acme');
    const after = { definitionKey: 'second', after: [parent] };
    const jobs = [after, { ...after, after: [unknown] }];
    const refused = await post('acme', { jobs }, '/v1/jobs/batch');
    expect(refused.json()).toMatchObject({ errors: [{ pointer: '/jobs/1/after/0' }] });
    const stored = await post('acme', { jobs: [after, after] }, '/v1/jobs/batch');
    expect(stored.statusCode).toBe(202);
    const { followers } = (await related('acme', parent)).json<{ followers: unknown[] }>();
    expect(followers).toHaveLength(2);
  });

  it('says which parent keeps a job from being retried', async () => {
    const parent = await parentOf('acme');
    const { jobId } = (await post('acme', { definitionKey: 'b', after: [parent] })).json<{
      jobId: string;
    }>();
    await cancelJob(database.db, 'acme', parent);
    const answer = await post('acme', {}, `/v1/jobs/${jobId}/retry`);
    expect(answer.statusCode).toBe(409);
    expect(answer.json<{ detail: string }>().detail).toContain(`its parent ${parent}`);
  });
});

describe('GET /v1/jobs/{id}/related', () => {
  it('has parents and followers with their states, also of deleted ones', async () => {
    const parent = await parentOf('acme');
    const { jobId } = (
      await post('acme', { definitionKey: 'b', after: [parent], onParentFailure: 'cancel' })
    ).json<{ jobId: string }>();
    await cancelJob(database.db, 'acme', parent);
    const gone = { jobId: parent, definitionKey: 'first', status: 'cancelled' };
    const own = { jobId, definitionKey: 'b', status: 'cancelled' };
    expect((await related('acme', parent)).json()).toEqual({
      parents: [],
      followers: [own],
      moreFollowers: false,
      spawnedBy: null,
      children: [],
      childrenTotal: 0,
      childrenOpen: 0,
      childrenEnded: { succeeded: 0, failed: 0, cancelled: 0 },
      failedChildren: [],
    });
    expect((await related('acme', jobId)).json()).toMatchObject({ parents: [gone] });
    await deleteJob(database.db, 'acme', parent);
    const deleted = { ...gone, definitionKey: null };
    expect((await related('acme', jobId)).json()).toMatchObject({ parents: [deleted] });
    expect((await outcomes('acme', jobId)).json()).toEqual({
      parents: [{ jobId: parent, status: 'cancelled', result: null, error: null }],
      children: [],
      complete: true,
    });
  });

  it('counts all children by their end, and has the failed ones first of all', async () => {
    const { id, job } = await reachOwned(database);
    const names = ['a', 'b', 'c', 'd'];
    const wanted: NewChild[] = [];
    for (const name of names) {
      const entry = await database.enqueuer.prepare(request({ definitionKey: `child ${name}` }));
      wanted.push({ name, asked: 'asked', entry });
    }
    const made = await database.db.transaction(
      async (tx) => await spawnChildren(tx, { shard: 0, id, claim: job.claim }, wanted),
    );
    const ids = (made?.children ?? []).map((child) => child.id);
    const claimed = await claimAny(database, await newWorker(database), 100);
    const ends = { b: failure('NON_RETRYABLE'), c: SUCCESS } as const;
    for (const [name, end] of Object.entries(ends)) {
      const child = claimed.find((one) => one.id === ids[names.indexOf(name)]);
      if (!child) throw new Error(`child ${name} was not claimed`);
      await settleAs(database, child, end);
    }
    await resolveEnded(database.db, 0, 100);
    const answer = (await related('default', id)).json<RelatedJobs>();
    expect(answer).toMatchObject({
      childrenTotal: 4,
      childrenOpen: 2,
      childrenEnded: { succeeded: 1, failed: 1, cancelled: 0 },
      failedChildren: [{ jobId: ids[1], definitionKey: 'child b', status: 'failed' }],
    });
    expect(answer.children.map(({ jobId }) => jobId)).toEqual(ids);
    const { children } = (await outcomes('default', id)).json<OutcomesView>();
    const open = { status: null, result: null, error: null, asked: 'asked' };
    expect(children).toEqual([
      { ...open, jobId: ids[0], name: 'a' },
      {
        ...open,
        jobId: ids[1],
        name: 'b',
        status: 'failed',
        error: { code: 'NON_RETRYABLE', message: 'boom', stack: null, cause: null },
      },
      { ...open, jobId: ids[2], name: 'c', status: 'succeeded', result: { ok: true } },
      { ...open, jobId: ids[3], name: 'd' },
    ]);
  });

  it('is 404 for a job of another tenant', async () => {
    const job = await parentOf('rival');
    expect((await related('acme', job)).statusCode).toBe(404);
    expect((await outcomes('acme', job)).statusCode).toBe(404);
  });
});
