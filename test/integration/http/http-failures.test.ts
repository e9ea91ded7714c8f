import { beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  BulkAnswer,
  BulkPageAnswer,
  BulkPreviewAnswer,
} from '../../../src/protocol/answers/bulk-answer.ts';
import {
  DeadLetterGroupsAnswer,
  DeadLetterPageAnswer,
} from '../../../src/protocol/answers/dead-letter-answer.ts';
import { JobPageAnswer } from '../../../src/protocol/answers/job-answer.ts';
import type { Problem } from '../../../src/protocol/problem.ts';
import { runBatch } from '../../../src/scheduler/bulk-batch.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';
import { GONE, manyDeadLetters, SLOW } from '../../support/dead-letters.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { reachState } from '../../support/checks/reach-state.ts';

const database = sharedDatabase();
const app = sharedServer(database);

beforeEach(async () => {
  await database.sql(`truncate longshore.job, longshore.waiting, longshore.running, longshore.done,
    longshore.attempt, longshore.bulk`);
});

const MISSING = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: unknown) =>
  await callAs(app, null, method, url, { payload });

/** The answer, which must be what the OpenAPI document promises. */
async function promised<Schema extends z.ZodType>(
  schema: Schema,
  asked: Promise<{ status: number; body: unknown }>,
): Promise<z.infer<Schema>> {
  const { status, body } = await asked;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return schema.parse(body);
}

async function refused(asked: Promise<{ status: number; body: unknown }>) {
  const { status, body } = await asked;
  const { code, errors } = body as Problem;
  return [status, code, ...(errors ? [errors.map(({ pointer }) => pointer)] : [])];
}

describe('POST /v1/jobs/{jobId}/retry', () => {
  const retry = async (id: string, body?: unknown) =>
    await call('POST', `/v1/jobs/${id}/retry`, body);

  it('lets a failed or cancelled job run again, in the way that is asked for', async () => {
    const { id } = await reachState(database, 'failed');
    expect(await retry(id)).toMatchObject({ status: 202, body: { jobId: id, status: 'queued' } });
    const other = await reachState(database, 'cancelled');
    const runAt = '2100-01-01T00:00:00.000Z';
    const answer = await retry(other.id, { mode: 'later', runAt, params: { a: 1 } });
    expect(answer).toMatchObject({ status: 202, body: { status: 'scheduled' } });
    const job = await call('GET', `/v1/jobs/${other.id}`);
    expect(job.body).toMatchObject({ status: 'scheduled', runAt, params: { a: 1 } });
  });

  it('refuses what it cannot do, and says why', async () => {
    const { id } = await reachState(database, 'failed');
    const open = await enqueueOne(database);
    expect(await refused(retry(MISSING))).toEqual([404, 'NOT_FOUND']);
    expect(await refused(retry('x'))).toEqual([404, 'NOT_FOUND']);
    expect(await retry(open)).toMatchObject({
      status: 409,
      body: { detail: 'the job is queued: only a failed or cancelled job can be retried' },
    });
    const wrong = { mode: 'nwo', runat: 1 };
    expect(await refused(retry(id, wrong))).toEqual([
      400,
      'VALIDATION_FAILED',
      ['/mode', '/runat'],
    ]);
    const early = { mode: 'reset', runAt: '2100-01-01T00:00:00Z' };
    expect(await refused(retry(id, early))).toEqual([400, 'VALIDATION_FAILED', ['/runAt']]);
    const deep = { params: [[[[[[[[[[[1]]]]]]]]]]] };
    expect((await refused(retry(id, deep))).slice(0, 2)).toEqual([400, 'PAYLOAD_INVALID']);
    const large = { params: 'x'.repeat(200_000) };
    expect((await refused(retry(id, large))).slice(0, 2)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});

describe('DELETE /v1/jobs/{jobId}', () => {
  it('deletes a job that has ended, and no other', async () => {
    const { id } = await reachState(database, 'succeeded');
    expect(await call('DELETE', `/v1/jobs/${id}`)).toMatchObject({ status: 204, text: '' });
    expect(await refused(call('DELETE', `/v1/jobs/${id}`))).toEqual([404, 'NOT_FOUND']);
    const open = await enqueueOne(database);
    expect(await refused(call('DELETE', `/v1/jobs/${open}`))).toEqual([409, 'CONFLICT']);
    expect(await call('GET', `/v1/jobs/${open}`)).toMatchObject({ status: 200 });
  });
});

describe('GET /v1/jobs', () => {
  it('finds by code, by time of the next run, and by text', async () => {
    await manyDeadLetters(database, { key: 'a', count: 4, mistakes: [SLOW, GONE] });
    await enqueueOne(database, { runAt: new Date('2100-01-01') });
    const count = async (query: string) =>
      (await promised(JobPageAnswer, call('GET', `/v1/jobs?${query}`))).jobs.length;
    expect(await count('errorCode=TIMEOUT')).toBe(2);
    expect(await count('q=order')).toBe(2);
    expect(await count('q=order&status=queued')).toBe(0);
    expect(await count('runAfter=2099-01-01T00:00:00Z')).toBe(1);
    expect(await count('runBefore=2099-01-01T00:00:00Z')).toBe(0);
    const long = await refused(call('GET', `/v1/jobs?q=${'x'.repeat(501)}`));
    expect(long).toEqual([400, 'VALIDATION_FAILED', ['/q']]);
  });
});

describe('GET /v1/jobs in the order of their turn', () => {
  /** One job to a page. */
  const ordered = async (query: string) => {
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const url = `/v1/jobs?limit=1&${query}${cursor && `&cursor=${cursor}`}`;
      const { jobs, nextCursor } = await promised(JobPageAnswer, call('GET', url));
      seen.push(...jobs.map(({ jobId }) => jobId));
      if (nextCursor === null) return seen;
      cursor = nextCursor;
    }
  };

  it('runAt is the next one first', async () => {
    const year = async (number: number, more = {}) =>
      await enqueueOne(database, { runAt: new Date(`${number}-01-01`), ...more });
    const late = await year(2102);
    const soon = await year(2100, { tags: ['t'] });
    const same = await year(2100, { definitionKey: 'other', paramsJson: '{"word":"found"}' });
    await enqueueOne(database);
    const sorted = 'sort=runAt&status=scheduled&status=retrying';
    expect(await ordered(sorted)).toEqual([soon, same, late]);
    expect(await ordered(`${sorted}&tag=t`)).toEqual([soon]);
    expect(await ordered(`${sorted}&definitionKey=other`)).toEqual([same]);
    expect(await ordered(`${sorted}&q=found`)).toEqual([same]);
    expect(await ordered(`${sorted}&runAfter=2101-01-01T00:00:00Z`)).toEqual([late]);
    expect(await ordered(`${sorted}&runAfter=2100-01-01T00:00:00Z`)).toHaveLength(3);
    expect(await ordered(`${sorted}&runBefore=2102-01-01T00:00:00Z`)).toEqual([soon, same]);
  });

  it('-priority is the next one first, over all lines', async () => {
    const low = await enqueueOne(database, { priority: -5 });
    const first = await enqueueOne(database, { definitionKey: 'other', priority: 7 });
    const second = await enqueueOne(database, { priority: 7 });
    const usual = await enqueueOne(database);
    await enqueueOne(database, { priority: 9, delayMs: 60_000 });
    const sorted = 'sort=-priority&status=queued';
    expect(await ordered(sorted)).toEqual([first, second, usual, low]);
    expect(await ordered(`${sorted}&createdBefore=2020-01-01T00:00:00Z`)).toEqual([]);
  });

  it.each([
    ['sort=runAt', '/sort'],
    ['sort=runAt&status=queued', '/sort'],
    ['sort=-priority&status=queued&status=failed', '/sort'],
    ['sort=-priority&status=queued&cursor=x', '/cursor'],
    [`sort=runAt&status=scheduled&cursor=${btoa(`-priority 1 1 ${MISSING}`)}`, '/cursor'],
  ])('refuses %s', async (query, pointer) => {
    const answer = await refused(call('GET', `/v1/jobs?${query}`));
    expect(answer).toEqual([400, 'VALIDATION_FAILED', [pointer]]);
  });
});

describe('/v1/dead-letters', () => {
  beforeEach(async () => {
    await manyDeadLetters(database, { key: 'a', count: 6, mistakes: [SLOW, GONE, SLOW] });
  });

  it('answers page by page, the latest first', async () => {
    const seen: string[] = [];
    let url = '/v1/dead-letters?limit=4';
    for (;;) {
      const { body, headers } = await call('GET', url);
      const page = DeadLetterPageAnswer.parse(body);
      seen.push(...page.jobs.map(({ finishedAt }) => finishedAt ?? ''));
      if (page.nextCursor === null) break;
      url = /^<(.*)>; rel="next"$/.exec(String(headers['link']))?.[1] ?? '';
    }
    expect(seen).toHaveLength(6);
    expect(seen).toEqual(seen.toSorted().reverse());
    const foreign = await refused(call('GET', '/v1/dead-letters?cursor=abc'));
    expect(foreign).toEqual([400, 'VALIDATION_FAILED', ['/cursor']]);
    const { jobs } = await promised(
      DeadLetterPageAnswer,
      call('GET', `/v1/dead-letters?fingerprint=${GONE.fingerprint}&errorCode=NOT_FOUND&q=order`),
    );
    expect(jobs).toHaveLength(2);
  });

  it('shows the groups', async () => {
    const answer = call('GET', '/v1/dead-letters/groups?definitionKey=a');
    const { groups, complete } = await promised(DeadLetterGroupsAnswer, answer);
    expect(groups).toMatchObject([
      { ...SLOW, count: 4 },
      { ...GONE, count: 2 },
    ]);
    expect(complete).toBe(true);
    const none = call('GET', '/v1/dead-letters/groups?from=2100-01-01T00:00:00Z');
    expect((await promised(DeadLetterGroupsAnswer, none)).groups).toEqual([]);
  });

  it('shows the groups that match a text, and no others', async () => {
    const day = 'from=2020-01-01T00:00:00Z&buckets=2';
    const answer = call('GET', `/v1/dead-letters/groups?q=order%20IS&${day}`);
    const { groups, complete } = await promised(DeadLetterGroupsAnswer, answer);
    expect(groups).toMatchObject([{ ...GONE, count: 2, countIsExact: true, trend: [0, 2] }]);
    expect(groups[0]?.definitions).toMatchObject([{ definitionKey: 'a', count: 2 }]);
    expect([groups.length, complete]).toEqual([1, true]);
  });

  it('retries a group as a bulk action, after a preview that changes nothing', async () => {
    const filter = { fingerprint: GONE.fingerprint };
    const asked = call('POST', '/v1/dead-letters/retry', { ...filter, preview: true });
    const preview = await promised(BulkPreviewAnswer, asked);
    expect(preview).toMatchObject({ action: 'retry', matched: 2, sample: [{}, {}] });
    const begun = await call('POST', '/v1/dead-letters/retry', { ...filter, ratePerSecond: 100 });
    const { bulkId } = BulkAnswer.parse(begun.body);
    expect(begun).toMatchObject({ status: 202, headers: { location: `/v1/bulk/${bulkId}` } });
    await runBatch(database.db);
    expect(await promised(BulkAnswer, call('GET', `/v1/bulk/${bulkId}`))).toMatchObject({
      status: 'finished',
      mode: 'now',
      done: 2,
    });
    const all = await promised(BulkAnswer, call('POST', '/v1/dead-letters/retry'));
    expect(all).toMatchObject({ matched: 4, filter: { status: ['failed'] } });
  });
});

describe('/v1/bulk', () => {
  const bulk = async (body: unknown) => await call('POST', '/v1/bulk', body);

  it('is listed, looked at and stopped', async () => {
    await manyDeadLetters(database, { key: 'a', count: 3, mistakes: [SLOW] });
    const filter = {
      status: ['failed'],
      definitionKey: 'a',
      createdBefore: '2100-01-01T00:00:00Z',
    };
    const first = await promised(BulkAnswer, bulk({ action: 'delete', filter }));
    const second = await promised(
      BulkAnswer,
      bulk({ action: 'retry', filter: { status: 'failed' }, mode: 'reset', params: [1] }),
    );
    const page = await promised(BulkPageAnswer, call('GET', '/v1/bulk?limit=1'));
    expect(page.bulks).toMatchObject([{ bulkId: second.bulkId, mode: 'reset', status: 'running' }]);
    const next = await promised(
      BulkPageAnswer,
      call('GET', `/v1/bulk?limit=1&cursor=${page.nextCursor}`),
    );
    expect(next).toMatchObject({ bulks: [{ bulkId: first.bulkId }], nextCursor: null });
    const stop = `/v1/bulk/${first.bulkId}/abort`;
    expect(await call('POST', stop)).toMatchObject({ status: 202, body: { status: 'aborted' } });
    expect(await refused(call('POST', stop))).toEqual([409, 'CONFLICT']);
    await runBatch(database.db);
    const { rows, jobs } = {
      rows: await database.sql('select from longshore.waiting'),
      jobs: await database.sql<{ params: unknown }>('select params from longshore.job'),
    };
    expect([rows.length, jobs.map(({ params }) => params)]).toEqual([3, [[1], [1], [1]]]);
  });

  it.each([
    [{}, ['/action', '/filter']],
    [{ action: 'retry', filter: {} }, ['/filter']],
    [{ action: 'retry', filter: { definition: 'a' } }, ['/filter/definition']],
    [{ action: 'retry', filter: { status: 'running' } }, ['/filter/status']],
    [{ action: 'cancel', filter: { status: ['queued', 'failed'] } }, ['/filter/status']],
    [{ action: 'delete', filter: { status: 'failed' }, mode: 'now' }, ['/mode']],
    [{ action: 'cancel', filter: { tag: 'x' }, ratePerSecond: 5 }, ['/ratePerSecond']],
    [{ action: 'retry', filter: { tag: 'x' }, ratePerSecond: 0 }, ['/ratePerSecond']],
    [{ action: 'retry', filter: { tag: 'x' }, runAt: '2100-01-01T00:00:00Z' }, ['/runAt']],
    [{ action: 'rerty', filter: { tag: 'x' } }, ['/action']],
  ])('refuses %j', async (body, pointers) => {
    expect(await refused(bulk(body))).toEqual([400, 'VALIDATION_FAILED', pointers]);
    expect(await database.sql('select from longshore.bulk')).toEqual([]);
  });

  it('knows no other', async () => {
    expect(await refused(call('GET', `/v1/bulk/${MISSING}`))).toEqual([404, 'NOT_FOUND']);
    expect(await refused(call('GET', '/v1/bulk/x'))).toEqual([404, 'NOT_FOUND']);
    const abort = call('POST', `/v1/bulk/${MISSING}/abort`);
    expect(await refused(abort)).toEqual([404, 'NOT_FOUND']);
    const foreign = await refused(call('GET', '/v1/bulk?cursor=x'));
    expect(foreign).toEqual([400, 'VALIDATION_FAILED', ['/cursor']]);
  });
});
