import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_TENANT } from '../../../src/core/access/scope.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import { newLink, parseLinkToken } from '../../../src/core/signal/signal-link.ts';
import { listAudit } from '../../../src/store/access/audit.ts';
import { hashSecret } from '../../../src/store/access/keys.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { createSignalLink } from '../../../src/store/change/signal-links.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readSteps } from '../../../src/store/read/read-steps.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { callAs, newKey, newTenant, serverOn } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** One-time links for signals, over HTTP and with real processes. */

const database = sharedDatabase({ shards: 4 });
const stops: (() => Promise<void>)[] = [];
let folder: string;
let app: ReturnType<typeof serverOn>;
let key: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-links-'));
  const jobs = join(FIXTURES, 'jobs');
  const publicUrl = 'https://jobs.example.com';
  const { worker, stop } = workerOn(database, { jobs, slots: 2, publicUrl });
  await worker.start();
  app = serverOn(database);
  ({ key } = await newKey(database, DEFAULT_TENANT, 'jobs:write', 'jobs:read'));
  stops.push(stop, await scheduling(database), async () => await app.close());
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await rm(folder, { recursive: true });
});

async function waitingJob(definitionKey = 'approval', signal = 'approved'): Promise<JobView> {
  const paramsJson = JSON.stringify({ file: join(folder, 'notes') });
  const jobId = await enqueueOne(database, { definitionKey, paramsJson });
  return await until('it waits', async () => {
    const job = await getJob(database.db, DEFAULT_TENANT, jobId);
    return job?.waitsFor?.signal === signal && job;
  });
}

const linksOf = (jobId: string, signal = 'approved') => `/v1/jobs/${jobId}/signals/${signal}/links`;

async function newLinkTo(
  jobId: string,
  payload: object = {},
): Promise<{ url: string; linkId: string }> {
  const made = await callAs(app, key, 'POST', linksOf(jobId), { payload });
  expect(made.status).toBe(201);
  return made.body as { url: string; linkId: string };
}

const pathOf = (url: string) => new URL(url).pathname;

const open = async (url: string, from = '127.0.0.1') =>
  await app.inject({ url: pathOf(url), headers: { host: '127.0.0.1' }, remoteAddress: from });

const submit = async (url: string, form: Record<string, string>, headers: object = {}) =>
  await app.inject({
    method: 'POST',
    url: pathOf(url),
    headers: {
      host: '127.0.0.1',
      origin: 'http://127.0.0.1',
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    payload: new URLSearchParams(form).toString(),
  });

describe('a one-time link', () => {
  it('shows the form of the schema to anyone, and uses nothing up', async () => {
    const { jobId } = await waitingJob();
    const { url } = await newLinkTo(jobId, { text: 'Pay <Ann> 40 €?' });
    for (let times = 0; times < 3; times += 1) {
      const { statusCode, headers, body } = await open(url);
      expect(statusCode).toBe(200);
      expect(body).toContain('Pay &lt;Ann&gt; 40 €?');
      expect(body).toContain('name="/ok" value="true">Approve</button>');
      expect(body).toContain('name="/ok" value="false">Reject</button>');
      expect(body).toContain('name="/by"');
      expect(body).not.toContain('<script');
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
        'content-security-policy': expect.stringMatching(/^default-src 'none'; style-src 'sha256-/),
        'x-robots-tag': 'noindex',
      });
    }
    expect(await getJob(database.db, DEFAULT_TENANT, jobId)).toMatchObject({ status: 'suspended' });
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
    expect((await open(url)).body).toContain('The job has ended (cancelled)');
    expect((await submit(url, { '/ok': 'true' })).statusCode).toBe(409);
  });

  it('sends the signal once, and says later when it was used', async () => {
    const { jobId } = await waitingJob();
    const { url, linkId } = await newLinkTo(jobId);
    const answers = await Promise.all(
      ['Ann', 'Ben', 'Cem'].map(async (by) => await submit(url, { '/ok': 'true', '/by': by })),
    );
    expect(answers.map(({ statusCode }) => statusCode).filter((code) => code === 200)).toHaveLength(
      1,
    );
    expect(await jobEnded(database, jobId)).toMatchObject({ result: { ok: true } });
    const again = await open(url);
    expect(again.statusCode).toBe(410);
    expect(again.body).toMatch(/It was used on \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    const list = await callAs(app, key, 'GET', linksOf(jobId));
    expect(list.body).toMatchObject({ links: [{ linkId, state: 'used' }] });
    const filter = { actor: null, action: null, text: null, after: null, before: null };
    const { entries } = await listAudit(database.db, {
      ...filter,
      tenant: DEFAULT_TENANT,
      subject: jobId,
      afterId: null,
      limit: 10,
    });
    expect(entries.map(({ action, actor }) => [action, actor.split(':')[0]])).toEqual([
      ['job.signal', 'link'],
      ['job.signal_link', 'key'],
    ]);
  });

  it('shows what is wrong with the form, and keeps what was typed', async () => {
    const { jobId } = await waitingJob();
    const { url } = await newLinkTo(jobId);
    const wrong = await submit(url, { '/by': 'Ann' });
    expect(wrong.statusCode).toBe(422);
    expect(wrong.body).toContain('/ok is required');
    expect(wrong.body).toContain('>Ann</textarea>');
    expect((await submit(url, { '/ok': 'false', '/by': 'Ann' })).statusCode).toBe(200);
    expect(await jobEnded(database, jobId)).toMatchObject({ result: { ok: false, by: 'Ann' } });
  });

  it('sends the payload of a choice, which must fit the schema', async () => {
    const { jobId } = await waitingJob();
    const misfit = { choices: [{ label: 'Yes', payload: { ok: 'yes' } }] };
    const refused = await callAs(app, key, 'POST', linksOf(jobId), { payload: misfit });
    expect(refused).toMatchObject({ status: 400, code: 'PAYLOAD_INVALID' });
    expect(refused.text).toContain('/choices/0/payload/ok');
    const choices = [
      { label: 'Pay', payload: { ok: true } },
      { label: 'Do not pay', payload: { ok: false, by: 'link' } },
    ];
    const { url } = await newLinkTo(jobId, { choices });
    expect((await open(url)).body).toContain('value="1">Do not pay</button>');
    expect((await submit(url, { choice: '2' })).statusCode).toBe(422);
    expect((await submit(url, { choice: '1' })).statusCode).toBe(200);
    expect(await jobEnded(database, jobId)).toMatchObject({ result: { ok: false, by: 'link' } });
  });

  it('can be revoked until it is used', async () => {
    const { jobId } = await waitingJob();
    const { url, linkId } = await newLinkTo(jobId);
    const path = `${linksOf(jobId)}/${linkId}`;
    expect((await callAs(app, key, 'DELETE', `${linksOf(jobId, 'other')}/${linkId}`)).status).toBe(
      404,
    );
    for (let times = 0; times < 2; times += 1) {
      expect((await callAs(app, key, 'DELETE', path)).status).toBe(204);
    }
    expect((await open(url)).body).toContain('It was revoked on');
    expect((await submit(url, { '/ok': 'true' })).statusCode).toBe(410);
    const other = await newLinkTo(jobId);
    await submit(other.url, { '/ok': 'true' });
    expect((await callAs(app, key, 'DELETE', `${linksOf(jobId)}/${other.linkId}`)).status).toBe(
      409,
    );
    await jobEnded(database, jobId);
    expect((await callAs(app, key, 'POST', linksOf(jobId), { payload: {} })).status).toBe(409);
  });

  it('expires', async () => {
    const { jobId } = await waitingJob();
    const { url } = await newLinkTo(jobId);
    const token = parseLinkToken(pathOf(url).split('/').at(-1) ?? '');
    const secret = 'cd'.repeat(32);
    const link = newLink(
      'approved',
      hashSecret(secret).toString('hex'),
      { expiresInMs: 60_000 },
      0,
    );
    const linkId = '00'.repeat(8);
    const by = { name: 'test', address: null };
    await createSignalLink(database.db, DEFAULT_TENANT, { jobId, linkId }, link, by);
    const old = url.replace(token?.linkId ?? '', linkId).replace(token?.secret ?? '', secret);
    expect((await open(old)).body).toContain('It expired on 1970-01-01 00:01 UTC');
    expect((await submit(old, { '/ok': 'true' })).statusCode).toBe(410);
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });

  it('is refused with another secret, and guesses are slowed down', async () => {
    const { jobId } = await waitingJob();
    const { url } = await newLinkTo(jobId);
    const guessed = `${url.slice(0, -4)}0000`;
    const codes: number[] = [];
    for (let times = 0; times < 40; times += 1)
      codes.push((await open(guessed, '10.1.1.1')).statusCode);
    expect(codes[0]).toBe(404);
    expect(codes.at(-1)).toBe(429);
    expect((await open(url, '10.1.1.1')).statusCode).toBe(429);
    expect((await open(url, '10.1.1.2')).statusCode).toBe(200);
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });

  it('is not used by a form of another site, nor made for a job of another tenant', async () => {
    const { jobId } = await waitingJob();
    const { url } = await newLinkTo(jobId);
    const foreign = await submit(url, { '/ok': 'true' }, { origin: 'https://evil.example' });
    expect(foreign.statusCode).toBe(403);
    const rival = await newKey(database, await newTenant(database, 'rival'), 'jobs:write');
    const refused = await callAs(app, rival.key, 'POST', linksOf(jobId), { payload: {} });
    expect(refused.status).toBe(404);
    const reader = await newKey(database, DEFAULT_TENANT, 'jobs:read');
    expect((await callAs(app, reader.key, 'POST', linksOf(jobId), { payload: {} })).status).toBe(
      403,
    );
    await cancelJob(database.db, DEFAULT_TENANT, jobId);
  });

  it('is made by the job itself, with the address that the operator set', async () => {
    const { jobId } = await waitingJob('asks-by-link', 'answer');
    const { steps } = await readSteps(database.db, DEFAULT_TENANT, jobId);
    expect(steps.map(({ name }) => name)).toEqual(['mail', 'wait:answer']);
    const url = String(steps[0]?.value);
    expect(url).toMatch(/^https:\/\/jobs\.example\.com\/v1\/links\/lsl_/);
    expect((await open(url)).body).toContain('>Go</button>');
    expect((await submit(url, { choice: '0' })).statusCode).toBe(200);
    expect(await jobEnded(database, jobId)).toMatchObject({ result: 'go' });
  });
});
