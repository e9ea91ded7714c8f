import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { configOf } from '../../../src/config/options.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import type { DeliveryView } from '../../../src/core/webhook/webhook.ts';
import { encryptionApp } from '../../../src/app/encryption-app.ts';
import { createLongshore, defineJob, type InProcess } from '../../../src/index.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { unpackLines } from '../../../src/store/attempt/log-data.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { serverOn, callAs, newKey } from '../../support/server-edge.ts';
import { type Receiver, startReceiver } from '../../support/servers/receiver.ts';
import { until } from '../../support/until.ts';
import { newWebhook } from '../../support/webhooks.ts';
import { jobEnded } from '../../support/servers/worker.ts';

/**
 * A server and a worker that encrypt, on one database: what goes in comes out again at every door, and
 * what the tables hold in between cannot be read without a key.
 */
const RING = `2026:${newRingKey()},2025:${newRingKey()}`;
const OTHER_RING = `2026:${newRingKey()}`;

const GIVEN = { token: 'canary-token', note: 'canary-note' };
const LEFT = {
  checkpoint: 'canary-checkpoint',
  step: 'canary-step',
  result: 'canary-result',
};
const STREAMED = 'canary-stream';
const CANARIES = [...Object.values(GIVEN), ...Object.values(LEFT), STREAMED];

const hooked: unknown[] = [];

const vaulted = defineJob({
  key: 'vaulted',
  isolation: 'inline',
  maxAttempts: 2,
  retry: { delaysMs: [1] },
  async run({ token, note }: typeof GIVEN, ctx) {
    const step = await ctx.step('one', () => LEFT.step);
    ctx.stream(STREAMED);
    if (ctx.lastCheckpoint !== undefined) {
      return { note, step, checkpoint: ctx.lastCheckpoint, result: LEFT.result };
    }
    await ctx.checkpoint(LEFT.checkpoint);
    ctx.logger.info(`logging in with ${token}`);
    ctx.logger.info('x'.repeat(2_000) + token);
    ctx.progress(0.5, `with ${token}`);
    void ctx.emitEvent('login', { with: [token] });
    throw new Error(`refused ${token}`, { cause: new Error(`for ${token}`) });
  },
  onSuccess({ params, result }) {
    hooked.push({ params, result });
  },
});
const echo = defineJob({ key: 'echo', isolation: 'inline', run: (params: unknown) => params });
const forger = defineJob({
  key: 'forger',
  isolation: 'inline',
  maxAttempts: 1,
  async run({ as }: { as: string }, ctx) {
    if (as === 'checkpoint') await ctx.checkpoint({ deep: [{ $sealed: 'x' }] });
    return { deep: [{ $sealed: 'x' }] };
  },
});

const database = sharedDatabase({ encryptionKeys: RING });
let app: FastifyInstance;
let longshore: InProcess;
let receiver: Receiver;
let key: string;

beforeAll(async () => {
  receiver = await startReceiver();
  app = serverOn(database);
  longshore = await createLongshore({
    databaseUrl: database.url,
    jobs: [vaulted, echo, forger],
    encryptionKeys: RING,
    webhookAllow: '127.0.0.0/8',
    pollMs: 100,
  });
  const scopes = ['jobs:read', 'jobs:write', 'jobs:reveal', 'operate'] as const;
  ({ key } = await newKey(database, 'default', ...scopes));
});
afterAll(async () => {
  await longshore.stop();
  await app.close();
  await receiver.close();
});

async function ask(method: string, path: string, payload?: unknown) {
  const answer = await callAs(app, key, method, path, payload === undefined ? {} : { payload });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer;
}

async function enqueued(definitionKey: string, params: unknown, more: object = {}) {
  const { body } = await ask('POST', '/v1/jobs', { definitionKey, params, ...more });
  return String(body['jobId']);
}

/** Every row of every table as text, with the log lines as they were written. */
async function everyRow(): Promise<string> {
  const tables = await database.sql<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where c.relkind = 'r' and c.relnamespace = 'longshore'::regnamespace`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await database.sql<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  const chunks = await database.sql<{ data: Buffer }>('select data from longshore.log_chunk');
  for (const { data } of chunks) texts.push(JSON.stringify(await unpackLines(data)));
  return texts.join('\n');
}

it('shows at every door what was given, and nothing of it in the database', async () => {
  const webhook = await newWebhook(database, { url: receiver.url, events: ['job.succeeded'] });
  const jobId = await enqueued('vaulted', GIVEN);
  const job = await jobEnded(database, jobId);
  const result = { note: GIVEN.note, ...LEFT };
  expect(job).toMatchObject({ status: 'succeeded', attempts: 2, params: GIVEN, result });

  const shown = await ask('GET', `/v1/jobs/${jobId}?reveal=true`);
  expect(shown.body).toMatchObject({ params: GIVEN, result });
  const listed = (await ask('GET', '/v1/jobs')).body['jobs'] as JobView[];
  const hidden = { params: { ...GIVEN, token: '[redacted]' }, result };
  expect(listed.find((one) => one.jobId === jobId)).toMatchObject(hidden);
  expect(await longshore.get(jobId)).toMatchObject({ params: GIVEN, result });

  const { stream } = (await ask('GET', `/v1/jobs/${jobId}/stream`)).body;
  expect(stream).toContainEqual({ id: '2-1-0', attempt: 2, text: STREAMED });

  await until('the hook has run', () => hooked.length > 0);
  expect(hooked).toEqual([{ params: GIVEN, result }]);
  const [request] = await receiver.have(1);
  expect(JSON.parse(request!.body)).toMatchObject({ data: { ...hidden, jobId } });
  const deliveries = async () =>
    (await ask('GET', `/v1/webhooks/${webhook.id}/deliveries`)).body['deliveries'];
  const [delivered] = await until('it is delivered', async () => {
    const all = (await deliveries()) as DeliveryView[];
    return all[0]?.status === 'delivered' && all;
  });
  expect(delivered).toMatchObject({ request: { data: hidden }, attempts: [{ status: 204 }] });
  await ask('POST', `/v1/webhooks/${webhook.id}/deliveries/${delivered?.id}/redeliver`);
  const [, again] = await receiver.have(2);
  expect(again!.body).toBe(request!.body);

  for (const part of ['attempts', 'events', 'logs']) {
    const { text } = await ask('GET', `/v1/jobs/${jobId}/${part}?reveal=true`);
    expect([part, text.includes('[redacted]'), text.includes(GIVEN.token)]).toEqual([
      part,
      true,
      false,
    ]);
  }

  const rows = await everyRow();
  expect(rows).toContain(jobId);
  expect(rows).toContain('[redacted]');
  for (const secret of [...CANARIES, key, webhook.secret]) {
    expect(rows.includes(secret) ? `${secret} is in the database` : '').toBe('');
  }
  await ask('DELETE', `/v1/webhooks/${webhook.id}`);
});

it('keeps what is derived from params, and every way to make or change a job', async () => {
  const once = { idempotencyKey: 'once' };
  const jobId = await enqueued('echo', GIVEN, once);
  expect(await enqueued('echo', { note: GIVEN.note, token: GIVEN.token }, once)).toBe(jobId);
  const payload = { definitionKey: 'echo', params: {}, ...once };
  const other = await callAs(app, key, 'POST', '/v1/jobs', { payload });
  expect([other.status, other.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  const unique = { unique: { while: 'active' }, hold: true };
  const held = await enqueued('echo', GIVEN, unique);
  expect(await enqueued('echo', GIVEN, unique)).toBe(held);

  await ask('POST', `/v1/jobs/${held}/cancel`);
  const edited = { note: 'canary-edited' };
  await ask('POST', `/v1/jobs/${held}/retry`, { mode: 'now', params: edited });
  expect(await jobEnded(database, held)).toMatchObject({ params: edited, result: edited });
  const history = await ask('GET', `/v1/jobs/${held}/events?reveal=true`);
  expect(history.text).toContain(GIVEN.token);

  const failing = await enqueued('forger', { as: 'result' });
  await jobEnded(database, failing);
  const filter = { status: ['failed'], definitionKey: 'forger' };
  const bulk = { action: 'retry', filter, params: { as: 'canary-bulk' } };
  const { body } = await ask('POST', '/v1/bulk', bulk);
  await until('the bulk action is done', async () => {
    return (await ask('GET', `/v1/bulk/${String(body['bulkId'])}`)).body['status'] === 'finished';
  });
  expect(await getJob(database.db, 'default', failing)).toMatchObject({
    params: { as: 'canary-bulk' },
  });

  const cron = { definitionKey: 'echo', cron: '@yearly', params: { note: 'canary-cron' } };
  const { id } = (await ask('POST', '/v1/schedules', cron)).body;
  const changed = { params: { note: 'canary-changed' } };
  expect((await ask('GET', `/v1/schedules/${String(id)}`)).body).toMatchObject(cron);
  expect((await ask('PATCH', `/v1/schedules/${String(id)}`, changed)).body).toMatchObject(changed);
  const made = (await ask('POST', `/v1/schedules/${String(id)}/trigger`)).body;
  expect(await jobEnded(database, String(made['jobId']))).toMatchObject({ result: changed.params });

  const rows = await everyRow();
  for (const word of ['edited', 'bulk', 'cron', 'changed', 'note', 'token']) {
    expect(rows).not.toContain(`canary-${word}`);
  }
  // A search finds nothing in what is encrypted, not even by chance. No id has an n.
  const found = await ask('GET', '/v1/jobs?definitionKey=echo&q=n');
  expect(found.body).toMatchObject({ jobs: [], unsearched: ['encrypted'] });
  const dead = await ask('GET', '/v1/dead-letters?definitionKey=echo&q=n');
  expect(dead.body).toMatchObject({ jobs: [], unsearched: ['encrypted'] });
  const listed = await ask('GET', '/v1/jobs?definitionKey=echo&q=status:failed');
  expect(listed.body).toMatchObject({ unsearched: [] });
});

it('refuses values that look encrypted', async () => {
  const params = { a: [{ $sealed: '2026.x.y' }] };
  const doors: [string, object][] = [
    ['/v1/jobs', { definitionKey: 'echo', params }],
    ['/v1/jobs/batch', { jobs: [{ definitionKey: 'echo', params }] }],
    ['/v1/schedules', { definitionKey: 'echo', cron: '@daily', params }],
    ['/v1/bulk', { action: 'retry', filter: { definitionKey: 'echo' }, params }],
    ['/jobs', { jobType: 'echo', payload: params }],
    ['/jobber/queue', { type: 'echo', payload: params }],
    ['/api/jobs/enqueue', { type: 'echo', payload: params }],
  ];
  for (const [path, payload] of doors) {
    const { status, code } = await callAs(app, key, 'POST', path, { payload });
    expect([path, status, code]).toEqual([path, 400, 'PAYLOAD_INVALID']);
  }
  for (const as of ['result', 'checkpoint']) {
    const { error } = await jobEnded(database, await enqueued('forger', { as }));
    expect(error?.message).toContain('$sealed is not allowed');
  }
});

it('fails a job clearly that it has no key for, and loses nothing', async () => {
  const held = await enqueued('echo', GIVEN, { hold: true });
  await longshore.stop();
  const stranger = await createLongshore({
    databaseUrl: database.url,
    jobs: [echo],
    encryptionKeys: OTHER_RING,
    pollMs: 100,
  });
  await stranger.release(held);
  const failed = await until('it has failed', async () => {
    const job = await stranger.get(held);
    return job.finishedAt === null ? null : job;
  });
  expect(failed).toMatchObject({
    status: 'failed',
    attempts: 0,
    error: { code: 'CANNOT_DECRYPT' },
  });
  expect(failed.params).toMatch(/^\[sealed: the key "2026" does not open it/);
  const without = Db.open({ clock: systemClock, url: database.url, log: silentLog });
  onTestFinished(async () => await without.close());
  const blind = await getJob(without, 'default', held);
  expect(blind?.params).toMatch(/"2026", which is not in LONGSHORE_ENCRYPTION_KEYS\]$/);

  await stranger.stop();
  longshore = await createLongshore({
    databaseUrl: database.url,
    jobs: [echo],
    encryptionKeys: RING,
    pollMs: 100,
  });
  await ask('POST', `/v1/jobs/${held}/retry`);
  const done = await until('it has succeeded', async () => {
    const job = await longshore.get(held);
    return job.status === 'succeeded' ? job : null;
  });
  expect(done.result).toEqual(GIVEN);
});

it('changes over to a new key while nothing stands still, and then needs no old one', async () => {
  const { id: job } = await longshore.enqueue('echo', GIVEN);
  await until('it has ended', async () => (await longshore.get(job)).status === 'succeeded');
  await newWebhook(database, { events: ['job.cancelled'] });
  const added = newRingKey();
  const change = async (keys: string, reseal: boolean) =>
    await encryptionApp(
      configOf({ databaseUrl: database.url, encryptionKeys: keys }, []),
      silentLog,
      {
        reseal,
      },
    );
  const before = await change(`2027:${added},${RING}`, false);
  expect(before.keys).toEqual([
    { id: '2027', use: 'encrypts', values: 0 },
    { id: '2026', use: 'decrypts', values: expect.any(Number) as number },
    { id: '2025', use: 'decrypts', values: 0 },
  ]);
  const values = before.keys[1]?.values ?? 0;
  expect(values).toBeGreaterThan(20);
  expect(await change(`2027:${added},${RING}`, true)).toEqual({
    keys: [{ ...before.keys[0], values }, { ...before.keys[1], values: 0 }, before.keys[2]],
    resealed: expect.any(Number) as number,
    unopened: 0,
  });
  const [left] = await database.sql(
    `select 1 from longshore.job where params::text like '%"2026.%' limit 1`,
  );
  expect(left).toBeUndefined();

  const renewed = Db.open({
    clock: systemClock,
    url: database.url,
    log: silentLog,
    encryptionKeys: `2027:${added}`,
  });
  onTestFinished(async () => await renewed.close());
  expect(await getJob(renewed, 'default', job)).toMatchObject({ params: GIVEN, result: GIVEN });
  expect(await change(RING, false)).toMatchObject({ keys: [{}, {}, { use: 'missing', values }] });
});

function newRingKey(): string {
  return randomBytes(32).toString('base64');
}
