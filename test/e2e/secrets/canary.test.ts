import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Canaries, dumpOf } from '../../support/checks/canary.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { newKey } from '../../support/server-edge.ts';
import { listen } from '../../support/servers/live-stream.ts';
import {
  descendants,
  endAll,
  FIXTURES,
  launch,
  run,
  type Running,
} from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { type Receiver, startReceiver } from '../../support/servers/receiver.ts';
import { until } from '../../support/until.ts';

/**
 * Secrets are put wherever they can come in: params, headers, query strings, bodies that are refused,
 * the keys and cookies of callers, the secrets of webhooks, the URL of the database. Then everything that
 * comes out is searched for them: the log of every role at its most talkative, every GET of the API,
 * live streams, the pages for people, the command line, and what webhooks carry.
 */
const canaries = new Canaries();
const params = {
  password: canaries.place('params by name'),
  card: { number: canaries.place('params by path') },
};
let folder: string;
let database: TestDatabase;
let receiver: Receiver;
let server: Running;
let key: string;
let webhookId: string;

beforeAll(async () => {
  folder = await quickFolder('longshore-canary-');
  database = await testDatabase();
  receiver = await startReceiver();
  ({ key } = await newKey(database, 'default', 'admin'));
  canaries.know('key', key.split('_')[2] ?? key);
  canaries.know('database', new URL(database.url).password || 'no password');
  server = await launch('start', {
    env: {
      DATABASE_URL: database.url,
      LONGSHORE_DATA: join(folder, 'data'),
      LONGSHORE_JOBS: join(FIXTURES, 'canary'),
      LONGSHORE_CONCURRENCY: '1',
      LONGSHORE_POLL_MS: '200',
      LONGSHORE_LOG_LEVEL: 'trace',
      LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
    },
  });
});
afterAll(async () => {
  await endAll();
  await receiver.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const call = async (method: string, path: string, body?: unknown, more = {}) =>
  await fetch(server.summary.address + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...more,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    redirect: 'manual',
  });

const made = async (path: string, body: unknown) =>
  (await (await call('POST', path, body)).json()) as Record<string, string>;

/** A session, whose cookie is a secret as well. */
async function logIn(): Promise<string> {
  const answer = await call('POST', '/v1/session', { key }, { origin: server.summary.address });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  canaries.know('session', cookie.split('=')[1] ?? 'no cookie');
  return cookie;
}

/** Every GET that the API describes, with ids that are really there. */
async function everyGet(ids: Record<string, string>): Promise<string[]> {
  const { paths } = (await (await call('GET', '/openapi.json')).json()) as {
    paths: Record<string, object>;
  };
  const gets = Object.keys(paths).filter((path) => 'get' in (paths[path] ?? {}));
  return gets.map((path) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none'),
  );
}

it('secrets that come in get out nowhere', async () => {
  const secret = await made('/v1/webhooks', { url: receiver.url, events: ['job.finished'] });
  webhookId = secret['id'] ?? '';
  canaries.know('webhook secret', (secret['secret'] ?? '').replace('whsec_', ''));
  const schedule = { definitionKey: 'leaky', cron: '0 0 1 1 *', params };
  const { id: scheduleId = '' } = await made('/v1/schedules', schedule);
  const { jobId = '' } = await made('/v1/jobs', { definitionKey: 'leaky', params });
  const streams = await Promise.all(
    ['events', 'logs'].map(async (part) =>
      listen(`${server.summary.address}/v1/jobs/${jobId}/${part}`, {
        authorization: `Bearer ${key}`,
      }),
    ),
  );
  const cookie = await logIn();
  const places = new Map<string, string>();
  const keep = async (name: string, answer: Response) =>
    places.set(name, JSON.stringify([...answer.headers]) + (await answer.text()));

  const header = canaries.place('header');
  const wrong = canaries.place('wrong key');
  const headers = { 'x-api-key': header, cookie: `own=${header}`, 'user-agent': header };
  await keep('strange headers', await call('GET', '/v1/jobs', undefined, headers));
  for (const scheme of ['Bearer', 'Basic']) {
    const authorization = `${scheme} ${wrong}`;
    await keep(`${scheme} refused`, await call('GET', '/v1/jobs', undefined, { authorization }));
  }
  await keep('cookie', await call('GET', '/v1/session', undefined, { authorization: '', cookie }));
  const query = canaries.place('query');
  await keep('query', await call('GET', `/v1/jobs?token=${query}`));
  const body = canaries.place('refused body');
  await keep('no JSON', await call('POST', '/v1/jobs', `{"password": ${body}`));
  const misfit = { definitionKey: 'leaky', params: {}, secret: body };
  await keep('unknown field', await call('POST', '/v1/jobs', misfit));

  const [delivery] = await receiver.have(1);
  places.set('webhook', JSON.stringify(delivery?.headers) + delivery?.body);
  expect(places.get('webhook')).toContain('[redacted]');
  const ids = { jobId, webhookId, scheduleId, workerId: 'none', key: 'leaky', keyId: 'none' };
  await until('its hook has failed, too', async () => {
    const hooks = (await (await call('GET', `/v1/jobs/${jobId}/events`)).json()) as object;
    return JSON.stringify(hooks).includes('"hook"');
  });
  for (const path of [...(await everyGet({ ...ids, id: scheduleId })), '/metrics']) {
    await keep(path, await call('GET', path));
  }
  const { deliveries } = (await (
    await call('GET', `/v1/webhooks/${webhookId}/deliveries`)
  ).json()) as { deliveries: { id: string }[] };
  await keep('delivery', await call('GET', `/v1/jobs/${deliveries[0]?.id}`));
  for (const stream of streams) {
    await stream.closed;
    places.set(`stream ${stream.response.url}`, JSON.stringify(stream.messages));
  }
  const env = { LONGSHORE_API_KEY: key, LONGSHORE_URL: server.summary.address };
  for (const args of [
    ['show', jobId],
    ['logs', jobId],
  ]) {
    const { code, stdout, stderr } = await run(args, { env });
    expect([args, code]).toEqual([args, 0]);
    places.set(`longshore ${args.join(' ')}`, stdout + stderr);
  }
  for (const { pid, command } of descendants(server.pid)) places.set(`argv ${pid}`, command);

  expect(places.get(`/v1/jobs/${jobId}`)).toContain('refused [redacted] [redacted]');
  expect(places.get(`longshore logs ${jobId}`)).toContain('[redacted]');
  server.signal('SIGTERM');
  await server.exited;
  expect(server.stderr()).toContain('"method":"GET"');
  places.set('log', server.stderr());
  expect(canaries.foundIn(places)).toEqual({});
});

it('what proves who calls is not in the database either; what jobs carry is, unless it is encrypted', async () => {
  const found = canaries.foundIn(await dumpOf(database));
  const held = [...new Set(Object.values(found).flat())].sort();
  expect(held).toEqual(['params by name', 'params by path', 'webhook secret']);
});
