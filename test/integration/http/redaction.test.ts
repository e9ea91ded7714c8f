import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { writeStreamChunks } from '../../../src/store/attempt/stream-chunks.ts';
import { saveStep } from '../../../src/store/attempt/steps.ts';
import { saveProgress } from '../../../src/store/attempt/progress.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, newKey, sharedServer } from '../../support/server-edge.ts';
import { claimAny, enqueueOne, newWorker, settleAs } from '../../support/jobs.ts';
import { listen } from '../../support/servers/live-stream.ts';
import { chunk, saidBy } from '../../support/history.ts';

/** Canaries in all input and output of a job: a key that may only read sees none of them. */
const database = sharedDatabase();
const app = sharedServer(database);
const CANARIES = ['canary-by-name', 'canary-by-path', '4111222233334444'];
const PARAMS = {
  password: CANARIES[0],
  card: { holder: 'Ada', number: 4111222233334444 },
  people: [{ mail: CANARIES[1] }],
};

beforeAll(async () => {
  const policy = { key: 'pay', redact: ['card.number', 'people.mail'] };
  await publishDefinitions(database.db, [definitionInfo(policy, { paramsSchema: null })]);
});

/** A job that repeats all it was given: in progress, events, logs and its error. */
async function chattyJob(): Promise<string> {
  const { db } = database;
  const paramsJson = JSON.stringify(PARAMS);
  const jobId = await enqueueOne(database, { definitionKey: 'pay', paramsJson, maxAttempts: 1 });
  const [claim] = await claimAny(database, await newWorker(database), 1);
  if (claim?.id !== jobId) throw new Error('another job was claimed');
  const said = `refused: ${CANARIES.join(' ')}`;
  const progress = { id: jobId, claim: claim.claim, fraction: 0.5, message: said };
  await saveProgress(db, 0, [progress]);
  await writeEvents(db, 0, [saidBy(claim, 1, JSON.stringify({ given: PARAMS, said }))]);
  await writeLogChunks(db, 0, [chunk(claim, 0, [said, 'nothing special'])]);
  const streamed = { id: jobId, claim: claim.claim, attempt: 1, n: 0, data: said };
  await writeStreamChunks(db, 0, [streamed]);
  for (const name of ['charge', null]) {
    const valueJson = JSON.stringify({ given: PARAMS, said });
    await saveStep(db, 0, { id: jobId, claim: claim.claim, name, valueJson });
  }
  const cause = { code: 'HANDLER_ERROR', message: said, stack: said, cause: null };
  const error = { ...cause, message: 'not booked', cause: { ...cause, cause } };
  await settleAs(database, claim, { kind: 'failure', error, retryAfterMs: null });
  return jobId;
}

it('hides secrets wherever a job is shown, and shows them to callers with jobs:reveal who ask', async () => {
  const jobId = await chattyJob();
  const { key } = await newKey(database, 'default', 'jobs:read', 'operate');
  const { key: revealing, keyId } = await newKey(database, 'default', 'jobs:read', 'jobs:reveal');
  const cron = { definitionKey: 'pay', cron: '@daily', params: PARAMS };
  const made = await callAs(app, key, 'POST', '/v1/schedules', { payload: cron });
  const schedule = `/v1/schedules/${String(made.body['id'])}`;
  const paths = ['', '/attempts', '/events', '/logs', '/logs/download', '/stream', '/steps'].map(
    (part) => `/v1/jobs/${jobId}${part}`,
  );
  const shown = [made.text];
  const lists = ['/v1/jobs', '/v1/dead-letters', '/v1/dead-letters/groups', '/v1/schedules'];
  const ofDefinition = '/v1/definitions/pay/logs';
  const others = [...lists, `/api/jobs/${jobId}`, schedule, '/v1/audit', ofDefinition];
  for (const path of [...paths, ...others]) {
    shown.push((await callAs(app, key, 'GET', path)).text);
  }
  shown.push((await callAs(app, key, 'POST', `${schedule}/pause`)).text);
  for (const text of shown) {
    for (const canary of CANARIES) expect(text).not.toContain(canary);
  }
  const { body } = await callAs(app, key, 'GET', `/v1/jobs/${jobId}`);
  expect(body).toMatchObject({
    status: 'failed',
    params: { password: '[redacted]', card: { holder: 'Ada', number: '[redacted]' } },
    error: {
      message: 'not booked',
      cause: { message: 'refused: [redacted] [redacted] [redacted]' },
    },
    errorSummary: 'HANDLER_ERROR: not booked ← refused: [redacted] [redacted] [redacted]',
  });
  const logs = await callAs(app, key, 'GET', `/v1/jobs/${jobId}/logs`);
  expect(logs.text).toContain('nothing special');
  const tail = await callAs(app, key, 'GET', ofDefinition);
  expect(tail.text).toContain('refused: [redacted] [redacted] [redacted]');

  for (const path of [...paths, schedule]) {
    const denied = await callAs(app, key, 'GET', `${path}?reveal=true`);
    expect([denied.status, denied.code]).toEqual([403, 'FORBIDDEN']);
    const revealed = await callAs(app, revealing, 'GET', `${path}?reveal=true`);
    expect([path, revealed.status]).toEqual([path, 200]);
    expect(revealed.text).toContain(CANARIES[0]);
  }
  const { key: admin } = await newKey(database, 'default', 'admin');
  const audit = await callAs(app, admin, 'GET', `/v1/audit?actor=key:${keyId}`);
  const entries = audit.body['entries'] as { action: string; subject: string }[];
  expect(entries.map(({ action }) => action).sort()).toEqual([
    'job.reveal',
    'job.reveal',
    'job.reveal',
    'job.reveal',
    'job.reveal',
    'job.reveal',
    'job.reveal',
    'schedule.reveal',
  ]);
});

it('does not find a job by what it hides, unless the caller may see it', async () => {
  const jobId = await chattyJob();
  const { key } = await newKey(database, 'default', 'jobs:read');
  const { key: revealing } = await newKey(database, 'default', 'jobs:read', 'jobs:reveal');
  const groupsFor = async (by: string, q: string) =>
    (await callAs(app, by, 'GET', `/v1/dead-letters/groups?q=${q}`)).body['groups'] as unknown[];
  for (const canary of CANARIES) {
    expect(await groupsFor(key, canary)).toEqual([]);
    expect((await groupsFor(revealing, canary)).length).toBeGreaterThan(0);
  }
  for (const path of ['/v1/jobs', '/v1/dead-letters']) {
    const found = async (by: string, q: string) => {
      const { body } = await callAs(app, by, 'GET', `${path}?q=${q}`);
      return (body['jobs'] as { jobId: string }[]).some((job) => job.jobId === jobId);
    };
    for (const canary of CANARIES) {
      expect(await found(key, canary)).toBe(false);
      expect(await found(revealing, canary)).toBe(true);
    }
    expect([await found(key, 'ada'), await found(key, 'refused:')]).toEqual([true, true]);
  }
});

it('hides them in live streams as well', async () => {
  const { key } = await newKey(database, 'default', 'jobs:read');
  const jobId = await chattyJob();
  const bare = { log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const server = new HttpServer({ ...database, ...bare });
  await server.start();
  onTestFinished(async () => await server.stop());
  for (const part of ['events', 'logs']) {
    const url = `${server.address}/v1/jobs/${jobId}/${part}`;
    const stream = await listen(url, { authorization: `Bearer ${key}` });
    await stream.closed;
    const text = JSON.stringify(stream.messages);
    expect(text).toContain('[redacted]');
    for (const canary of CANARIES) expect(text).not.toContain(canary);
  }
});
