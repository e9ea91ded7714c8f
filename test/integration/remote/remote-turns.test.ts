import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { Controller } from '../../../src/controller/controller.ts';
import { RegisterBody, SayBody, TurnBody } from '../../../src/protocol/worker-protocol.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { putSecret } from '../../../src/store/access/secrets.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { readLogs } from '../../../src/store/read/read-logs.ts';
import { postgresQueue } from '../../../src/worker/claim/postgres-queue.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

const RING = `a:${Buffer.alloc(32, 7).toString('base64')}`;
const database = databasePerTest({ encryptionKeys: RING });
const KEY = { tenant: 'default', keyId: '', patterns: null, address: '127.0.0.1' };

/** What two API processes know of the calls of one worker. */
async function twoControllers() {
  const instance = randomUUID();
  const { db, waker } = database;
  const start = async () => {
    const controller = new Controller({
      db,
      reserved: db,
      store: postgresQueue(db, db, waker),
      databaseUrl: null,
      leaseMs: 60_000,
      pollMs: 50,
      clock: systemClock,
      log: silentLog,
    });
    await controller.start();
    onTestFinished(async () => await controller.stop());
    return controller;
  };
  const [one, other] = [await start(), await start()];
  const register = async (controller: Controller, key: string) => {
    const facts = RegisterBody.parse({ host: 'edge', definitions: [{ key }] });
    await controller.register(KEY, instance, facts);
  };
  await register(one, 'hello');
  const turn = async (controller: Controller, body: object) =>
    await controller.turn(KEY, instance, TurnBody.parse(body), new AbortController().signal);
  const claimed = async (controller: Controller) =>
    await until('a job is claimed', async () => {
      const taken = await turn(controller, { room: 1, waitMs: 500 });
      return taken.reply.jobs.length > 0 ? taken : null;
    });
  const say = async (controller: Controller, body: object) =>
    await controller.say(KEY, instance, SayBody.parse(body));
  return { one, other, register, turn, say, claimed };
}

const statusOf = async (id: string) => (await getJob(database.db, 'default', id))?.status;

it('a server whose answer was not sent gives the job back, without charging the attempt', async () => {
  const { one, claimed } = await twoControllers();
  const id = await enqueueOne(database);
  const { undeliver } = await claimed(one);
  await undeliver();
  expect(await getJob(database.db, 'default', id)).toMatchObject({ status: 'queued', attempts: 0 });
});

it('a server does not give back a job that another one has delivered since', async () => {
  const { one, other, turn, claimed } = await twoControllers();
  const id = await enqueueOne(database);
  const { undeliver } = await claimed(one);
  const again = await turn(other, { room: 1, holding: [] });
  expect(again.reply.jobs).toMatchObject([{ id, claim: 1, attempt: 1 }]);
  await undeliver();
  expect(await statusOf(id)).toBe('running');
  // Neither does a repeated declaration whose own answer was not sent.
  await again.undeliver();
  expect(await statusOf(id)).toBe('running');
});

it('an outcome that is sent again is answered with the state that it led to', async () => {
  const { one, other, turn, claimed } = await twoControllers();
  const id = await enqueueOne(database);
  await claimed(one);
  const outcome = { kind: 'failure', error: { code: 'X', message: 'no' } };
  const report = { outcomes: [{ id, claim: 1, outcome }] };
  const first = await turn(one, report);
  expect(first.reply.settled).toEqual([{ id, claim: 1, next: 'retrying' }]);
  const second = await turn(other, report);
  expect(second.reply.settled).toEqual([{ id, claim: 1, next: 'retrying' }]);
});

it('a server that knows an older registration takes the outcome of a job of a newer one', async () => {
  const { one, other, register, turn, say, claimed } = await twoControllers();
  await turn(other, { outcomes: [] });
  // As after a deploy: one definition less and one more.
  await register(one, 'goodbye');
  const id = await enqueueOne(database, { definitionKey: 'goodbye' });
  await claimed(one);
  const progress = [{ id, claim: 1, fraction: 0.5, message: null }];
  expect(await say(other, { masked: true, progress })).toEqual({ stale: [] });
  const outcome = { kind: 'success', resultJson: '1' };
  const { reply } = await turn(other, { serves: 1, outcomes: [{ id, claim: 1, outcome }] });
  expect(reply.settled).toEqual([{ id, claim: 1, next: 'succeeded' }]);
});

it('the server masks what a worker has not masked, also a job that another server delivered', async () => {
  const { one, other, turn, say, claimed } = await twoControllers();
  const id = await enqueueOne(database, { paramsJson: '{"apiKey":"key-123456"}' });
  await claimed(one);
  const told = 'GET /?key=key-123456';
  const claim = { id, claim: 1 };
  const lines = [{ level: 'info', message: told, ageMs: 0 }];
  await say(one, { logs: [{ ...claim, n: 0, lines }] });
  await say(other, { logs: [{ ...claim, n: 1, lines }] });
  // A worker of our own has looked for them.
  await say(one, { masked: true, logs: [{ ...claim, n: 2, lines }] });
  const payloadJson = JSON.stringify({ name: 'sent', payload: { told } });
  await say(one, { events: [{ ...claim, n: 3, payloadJson, ageMs: 0 }] });
  await say(one, { progress: [{ ...claim, fraction: 0.5, message: told }] });
  const outcome = { kind: 'failure', error: { code: 'X', message: told } };
  await turn(other, { outcomes: [{ ...claim, outcome }] });

  const masked = 'GET /?key=[redacted]';
  const question = { afterId: null, attempt: null, limit: 10 };
  const page = await readLogs(database.db, 'default', id, question);
  expect(page?.logs.map(({ message }) => message)).toEqual([masked, masked, told]);
  const events = await database.sql('select payload from longshore.event where job_id = $1', [id]);
  expect(events).toEqual([{ payload: { name: 'sent', payload: { told: masked } } }]);
  expect(await getJob(database.db, 'default', id)).toMatchObject({
    error: { message: masked },
  });
});

it('the server sends the secrets of a job, and masks them, also where another server sent them', async () => {
  const by = { name: 'test', address: null };
  const put = async (value: string) =>
    await putSecret(database.db, by, 'default', { name: 'TOKEN', definitionKey: 'hello' }, value);
  await put('token-123456');
  const { one, other, turn, say, claimed } = await twoControllers();
  const id = await enqueueOne(database);
  const { reply } = await claimed(one);
  expect(reply.jobs).toMatchObject([{ id, secrets: { TOKEN: 'token-123456' } }]);
  const again = await turn(other, { room: 1, holding: [] });
  expect(again.reply.jobs).toMatchObject([{ id, secrets: { TOKEN: 'token-123456' } }]);

  // A server masks what it sent, whatever the secret is now.
  await put('another-one');
  const claim = { id, claim: 1 };
  const lines = [{ level: 'info', message: 'with token-123456', ageMs: 0 }];
  await say(one, { logs: [{ ...claim, n: 0, lines }] });
  await say(one, { logs: [{ ...claim, n: 1, lines }], masked: false });
  const resultJson = '{"told":"token-123456"}';
  await turn(one, { outcomes: [{ ...claim, outcome: { kind: 'success', resultJson } }] });
  const question = { afterId: null, attempt: null, limit: 10 };
  const page = await readLogs(database.db, 'default', id, question);
  expect(page?.logs.map(({ message }) => message)).toEqual(['with [redacted]', 'with [redacted]']);
  expect(await getJob(database.db, 'default', id)).toMatchObject({
    result: { told: '[redacted]' },
  });
});
