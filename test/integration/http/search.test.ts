import { beforeAll, describe, expect, it } from 'vitest';
import { rootCause } from '../../../src/core/failure/dead-letter.ts';
import {
  causeWords,
  errorRow,
  errorWords,
  failureWords,
} from '../../../src/core/failure/failure-words.ts';
import type { JobError } from '../../../src/core/job/job.ts';
import { EXPORT_ROWS_MAX } from '../../../src/core/search/job-export.ts';
import { VIEWS_MAX } from '../../../src/core/search/saved-view.ts';
import { runBatch } from '../../../src/scheduler/bulk-batch.ts';
import { claim } from '../../../src/store/claim/claim.ts';
import { GONE, manyDeadLetters, SLOW, VAT } from '../../support/dead-letters.ts';
import { enqueueOne, everyLevel, newWorker, settleAs } from '../../support/jobs.ts';
import { callAs, newKey, newTenant, sharedServer } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const app = sharedServer(database);

const call = async (method: string, url: string, payload?: unknown) =>
  await callAs(app, null, method, url, payload === undefined ? {} : { payload });

interface Page {
  jobs: { jobId: string; definitionKey: string; status: string }[];
  nextCursor: string | null;
  searchedUntil: string | null;
}

const page = async (path: string, q: string, more = ''): Promise<Page> => {
  const { status, body } = await call('GET', `${path}?q=${encodeURIComponent(q)}${more}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as unknown as Page;
};

/** What a search finds, newest first. */
const found = async (q: string) =>
  (await page('/v1/jobs', q)).jobs.map(({ definitionKey, status }) => `${definitionKey} ${status}`);

let mailId = '';

beforeAll(async () => {
  await newTenant(database, 'acme');
  await database.sql(
    `insert into longshore.definition (key, version, info) values
       ('billing.send', 1, '{"owner": "team-billing"}'), ('crm.sync', 1, '{"owner": "team-crm"}')`,
  );
  await manyDeadLetters(database, {
    key: 'billing.send',
    count: 2,
    mistakes: [SLOW, GONE],
    params: { invoice: 'INV-2291', note: '=cmd()' },
  });
  await manyDeadLetters(database, { key: 'import.rows', count: 1, mistakes: [VAT] });
  await enqueueOne(database, { definitionKey: 'crm.sync', tags: ['eu', 'nightly'] });
  mailId = await enqueueOne(database, {
    definitionKey: 'mail',
    paramsJson: '{"to":"Ada Lovelace","subject":"crm news"}',
    tags: ['eu'],
  });
  await enqueueOne(database, { tenant: 'acme', definitionKey: 'mail', tags: ['acme'] });
});

describe('GET /v1/jobs?q=', () => {
  it.each([
    ['status:failed definition:billing', ['billing.send failed', 'billing.send failed']],
    ['owner:billing timeout', ['billing.send failed']],
    ['owner:team status:queued', ['crm.sync queued']],
    ['crm', ['mail queued', 'crm.sync queued']],
    ['definition:crm', ['crm.sync queued']],
    ['mail', ['mail queued']],
    ['"ada lovelace"', ['mail queued']],
    ['ada news', ['mail queued']],
    ['tag:eu tag:nightly', ['crm.sync queued']],
    ['nightly', ['crm.sync queued']],
    ['code:not_found inv-2291', ['billing.send failed']],
    ['owner:team-billing nothing-like-it', []],
    ['status:failed status:queued owner:crm', ['crm.sync queued']],
  ])('%s', async (q, expected) => expect(await found(q)).toEqual(expected));

  it('finds a job by the beginning or the end of its id', async () => {
    const digits = mailId.replaceAll('-', '');
    for (const q of [mailId, digits.slice(-8), `id:${digits.slice(-5)}`, `id:${mailId} tag:eu`]) {
      const { jobs } = await page('/v1/jobs', q);
      expect([q, jobs.map(({ jobId }) => jobId)]).toEqual([q, [mailId]]);
    }
    expect((await page('/v1/jobs', `id:${mailId} status:failed`)).jobs).toEqual([]);
    expect((await page('/v1/jobs', `id:${digits.slice(-5)} owner:team`)).jobs).toEqual([]);
  });

  it.each(['/v1/jobs', '/v1/dead-letters'])(
    'finds what pages show as a cause: %s',
    async (path) => {
      const ids = async (q: string) => (await page(path, q)).jobs.map(({ jobId }) => jobId);
      const [failed = ''] = await ids('definition:import.rows');
      const { body } = await call('GET', `/v1/jobs/${failed}`);
      const { error } = body as unknown as { error: JobError };
      const cause = rootCause(error);
      const shown = [
        error.message,
        error.cause?.message ?? '',
        causeWords({ ...error, cause }),
        failureWords({ ...error, cause }),
        failureWords({ ...error, cause }, true),
        errorRow(error),
        errorWords(error),
        String(body['errorSummary']),
      ];
      expect(shown).toContain('column "vat_id" does not exist (TIMEOUT)');
      for (const text of shown) expect([text, await ids(text)]).toEqual([text, [failed]]);
      expect(await ids('"stack of the cause"')).toEqual([]);
    },
  );

  it('finds a job that waits for its retry by the cause of its error', async () => {
    const jobId = await enqueueOne(database, { definitionKey: 'import.retried' });
    const worker = await newWorker(database);
    const levels = await everyLevel(database);
    for (const job of await claim(database.db, 0, 1, worker, levels.slice(-1))) {
      expect(job.id).toBe(jobId);
      await settleAs(database, job, { kind: 'failure', error: VAT, retryAfterMs: 60_000 });
    }
    const { jobs } = await page('/v1/jobs', 'status:retrying "does not exist"');
    expect(jobs.map((one) => one.jobId)).toEqual([jobId]);
  });

  it('sorts the waiting jobs that a search names', async () => {
    const { jobs } = await page('/v1/jobs', 'status:queued tag:eu', '&sort=-priority');
    expect(jobs.length).toBe(2);
  });

  it.each([
    ['owmer:billing', 'unknown filter "owmer": did you mean "owner"?'],
    ['status:faild', 'did you mean "failed"?'],
    ['"open', 'a quotation mark is missing'],
  ])('refuses %s', async (q, words) => {
    for (const path of ['/v1/jobs', '/v1/dead-letters', '/v1/dead-letters/groups']) {
      const { status, text } = await call('GET', `${path}?q=${encodeURIComponent(q)}`);
      expect([path, status]).toEqual([path, 400]);
      expect(JSON.parse(text).errors[0]).toMatchObject({ pointer: '/q' });
      expect(JSON.parse(text).errors[0].detail).toContain(words);
    }
  });

  it('says how far it came when it found nothing', async () => {
    await manyDeadLetters(database, { key: 'noise', count: 1_600, mistakes: [SLOW] });
    let answer = await page('/v1/jobs', '"ada lovelace"');
    expect(answer.jobs).toEqual([]);
    expect(answer.nextCursor).not.toBeNull();
    expect(Date.parse(answer.searchedUntil ?? '')).toBeGreaterThan(Date.now() - 600_000);
    while (answer.jobs.length === 0 && answer.nextCursor !== null) {
      answer = await page('/v1/jobs', '"ada lovelace"', `&cursor=${answer.nextCursor}`);
    }
    expect(answer.jobs.map(({ jobId }) => jobId)).toEqual([mailId]);
    expect(answer.searchedUntil).toBeNull();
  });
});

describe('dead letters', () => {
  it('are searched in the same language, also as groups', async () => {
    const letters = async (q: string) => (await page('/v1/dead-letters', q)).jobs.length;
    expect(await letters('owner:billing')).toBe(2);
    expect(await letters('definition:billing inv-2291 gone')).toBe(1);
    expect(await letters('owner:billing status:queued')).toBe(0);
    const groups = async (q: string) => {
      const { body } = await call('GET', `/v1/dead-letters/groups?q=${encodeURIComponent(q)}`);
      const { groups: all } = body as { groups: { code: string; count: number }[] };
      return all.map(({ code, count }) => `${code} ${count}`).sort();
    };
    expect(await groups('owner:billing')).toEqual(['NOT_FOUND 1', 'TIMEOUT 1']);
    expect(await groups('owner:billing code:timeout')).toEqual(['TIMEOUT 1']);
    expect(await groups('inv-2291 gone')).toEqual(['NOT_FOUND 1']);
    expect(await groups('status:queued')).toEqual([]);
  });
});

describe('a bulk action', () => {
  const preview = async (action: string, filter: object) =>
    await call('POST', '/v1/bulk', { action, filter, preview: true });

  it('changes the jobs that a search finds', async () => {
    expect((await preview('retry', { q: 'owner:billing' })).body).toMatchObject({ matched: 2 });
    const cancelled = { q: 'status:cancelled owner:billing' };
    expect((await preview('retry', cancelled)).body).toMatchObject({ matched: 0 });
    const wrong = await preview('retry', { q: 'status:queued' });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('does not apply')]);
  });

  it('changes exactly the jobs that are named', async () => {
    const one = await enqueueOne(database, { definitionKey: 'named' });
    const kept = await enqueueOne(database, { definitionKey: 'named' });
    const foreign = await enqueueOne(database, { definitionKey: 'named', tenant: 'acme' });
    const filter = { jobIds: [one, foreign] };
    expect((await preview('cancel', filter)).body).toMatchObject({ matched: 1 });
    const { status, body } = await call('POST', '/v1/bulk', { action: 'cancel', filter });
    expect([status, body['filter']]).toEqual([202, expect.objectContaining(filter)]);
    while ((await runBatch(database.db)) !== null);
    const state = async (id: string) =>
      (
        await database.sql<{ state: string }>(
          `select state from longshore.waiting where id = $1
         union all select state from longshore.done where id = $1`,
          [id],
        )
      )[0]?.state;
    expect([await state(one), await state(kept), await state(foreign)]).toEqual([
      'cancelled',
      'queued',
      'queued',
    ]);
  });

  it.each([[[]], [['x']], [Array.from({ length: 1_001 }, () => mailId || 'x')]])(
    'refuses a wrong list of ids',
    async (jobIds) => expect((await preview('cancel', { jobIds })).status).toBe(400),
  );
});

describe('GET /v1/jobs/export', () => {
  const lines = ({ text }: { text: string }) => text.trim().split(/\r?\n/);

  it('writes all matching jobs as CSV, past any page', async () => {
    const answer = await call('GET', '/v1/jobs/export?format=csv&q=definition:noise');
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="jobs.csv"',
    });
    const rows = lines(answer);
    expect(rows.length).toBe(1_601);
    expect(rows[0]).toMatch(/^jobId,definitionKey,/);
    expect(new Set(rows).size).toBe(1_601);
  });

  it('writes JSON lines, continues where it ended, and redacts', async () => {
    await enqueueOne(database, { definitionKey: 'login', paramsJson: '{"password":"hunter2"}' });
    const first = await call('GET', '/v1/jobs/export?format=jsonl&limit=3');
    const jobs = lines(first).map((line) => JSON.parse(line) as Page['jobs'][number]);
    expect(jobs.length).toBe(3);
    expect(first.text).toContain('[redacted]');
    expect(first.text).not.toContain('hunter2');
    const after = jobs.at(-1)?.jobId;
    const next = await call('GET', `/v1/jobs/export?format=jsonl&limit=1&after=${after}`);
    const [fourth] = lines(next).map((line) => JSON.parse(line) as Page['jobs'][number]);
    const listed = (await call('GET', '/v1/jobs?limit=4')).body as unknown as Page;
    expect([...jobs, fourth].map((job) => job?.jobId)).toEqual(
      listed.jobs.map(({ jobId }) => jobId),
    );
  });

  it('has only a head when nothing matches', async () => {
    const answer = await call('GET', '/v1/jobs/export?format=csv&q=owner:none-such');
    expect(lines(answer)).toEqual([expect.stringMatching(/^jobId,/)]);
  });

  it.each([
    ['', '/format'],
    ['format=xml', '/format'],
    ['format=csv&after=x', '/after'],
    [`format=csv&limit=${EXPORT_ROWS_MAX + 1}`, '/limit'],
    ['format=csv&q=owmer:x', '/q'],
  ])('refuses %s', async (query, pointer) => {
    const { status, body } = await call('GET', `/v1/jobs/export?${query}`);
    expect([status, body]).toMatchObject([400, { errors: [{ pointer }] }]);
  });
});

it('lists names to complete a search with, of the tenant only', async () => {
  const { body } = await call('GET', '/v1/search-values');
  expect(body).toMatchObject({
    definitions: expect.arrayContaining(['billing.send', 'crm.sync', 'mail']),
    owners: ['team-billing', 'team-crm'],
    codes: ['TIMEOUT', 'NOT_FOUND'],
    tags: ['eu', 'nightly'],
  });
});

describe('/v1/views', () => {
  const VIEW = { screen: 'jobs', query: 'status=failed&q=owner%3Abilling' };

  it('saves, replaces, lists and deletes, with audit entries', async () => {
    const path = `/v1/views/${encodeURIComponent('On call: billing')}`;
    const saved = await call('PUT', path, VIEW);
    expect(saved.body).toMatchObject({
      name: 'On call: billing',
      ...VIEW,
      updatedBy: 'anonymous (no keys)',
    });
    const other = { screen: 'dead-letters', query: 'window=24h' };
    expect((await call('PUT', path, other)).body).toMatchObject(other);
    const { views } = (await call('GET', '/v1/views')).body as { views: unknown[] };
    expect(views).toMatchObject([{ name: 'On call: billing', ...other }]);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('DELETE', path)).status).toBe(404);
    const rows = await database.sql<{ action: string }>(
      `select action from longshore.audit where subject = 'On call: billing' order by id`,
    );
    expect(rows.map(({ action }) => action)).toEqual(['view.create', 'view.change', 'view.delete']);
  });

  it.each([
    ['/v1/views/x', { screen: 'job', query: '' }, '/screen'],
    ['/v1/views/x', { screen: 'jobs', query: 'stauts=x' }, '/query'],
    ['/v1/views/x', { screen: 'jobs', query: 'q=owmer%3Ax' }, '/query'],
    [`/v1/views/${'x'.repeat(61)}`, VIEW, '/name'],
  ])('refuses %s %j', async (path, body, pointer) => {
    const answer = await call('PUT', path, body);
    expect([answer.status, answer.body]).toMatchObject([400, { errors: [{ pointer }] }]);
  });

  it('has a bound for each tenant', async () => {
    await database.sql(
      `insert into longshore.saved_view (tenant, name, screen, query, updated_by)
       select 'default', 'v' || n, 'jobs', '', 'test' from generate_series(1, ${VIEWS_MAX}) n`,
    );
    expect((await call('PUT', '/v1/views/v1', VIEW)).status).toBe(200);
    expect(await call('PUT', '/v1/views/one-more', VIEW)).toMatchObject({ code: 'CONFLICT' });
  });

  it('shows nothing of another tenant', async () => {
    const { key } = await newKey(database, 'acme', 'jobs:read');
    const views = await callAs(app, key, 'GET', '/v1/views');
    expect(views.body).toEqual({ views: [] });
    const values = await callAs(app, key, 'GET', '/v1/search-values');
    expect(values.body).toEqual({
      definitions: ['mail', 'named'],
      owners: [],
      codes: [],
      tags: ['acme'],
    });
    const exported = await callAs(app, key, 'GET', '/v1/jobs/export?format=jsonl');
    expect(exported.text.trim().split('\n').length).toBe(2);
  });
});
