import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import type { ChangeView } from '../../../src/core/views/change-feed.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { ChangeAnswer } from '../../../src/protocol/answers/change-feed-answer.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { rollUpAll } from '../../../src/store/counters/roll-up.ts';
import { revokeKey } from '../../../src/store/access/keys.ts';
import { pause, resume } from '../../../src/store/limits/pauses.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { newKey, newTenant } from '../../support/server-edge.ts';
import { enqueueOne, newWorker } from '../../support/jobs.ts';
import { listen, type Listening } from '../../support/servers/live-stream.ts';
import { until } from '../../support/until.ts';

/** What changes for a tenant, from the rows to the bytes that a reader of the stream gets. */

const database = sharedDatabase();
let server: HttpServer;
const keys: Record<string, string> = {};

/** Another process of the API, as far as memory goes: it shares nothing but the database. */
async function serve(): Promise<HttpServer> {
  const { db, enqueuer } = database;
  const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const made = new HttpServer({ ...deps, streams: { pollMs: 10, pollMaxMs: 20 } });
  await made.start();
  return made;
}

beforeAll(async () => {
  for (const tenant of ['acme', 'rival']) {
    await newTenant(database, tenant);
    keys[tenant] = (await newKey(database, tenant, 'jobs:read')).key;
  }
  await rollUpAll(database.db);
  server = await serve();
});
afterAll(async () => await server.stop());

const as = (tenant: string) => ({ authorization: `Bearer ${keys[tenant]}` });

/** Has heard where it stands, so that what follows is news. */
async function follow(tenant: string, from = server, lastId?: string): Promise<Listening> {
  const headers = { ...as(tenant), ...(lastId !== undefined && { 'last-event-id': lastId }) };
  const listening = await listen(`${from.address}/v1/stream`, headers);
  if (lastId === undefined) await until('it begins', () => listening.messages.length === 1);
  return listening;
}

const changesOf = ({ messages }: Listening): ChangeView[] =>
  messages.map(({ data }) => JSON.parse(data) as ChangeView);
const topicsOf = (listening: Listening) => changesOf(listening).flatMap(({ topics }) => topics);
const lastIdOf = ({ messages }: Listening) => messages.at(-1)?.id ?? '';

/** A job that is made, and counted as the scheduler does every second. */
async function make(tenant: string, definitionKey: string): Promise<void> {
  await enqueueOne(database, { tenant, definitionKey });
  await rollUpAll(database.db);
}

describe('the stream of changes', () => {
  it('names the definitions whose jobs have moved, for their tenant only', async () => {
    const [ours, theirs] = [await follow('acme'), await follow('rival')];
    expect(changesOf(ours)).toEqual([{ id: lastIdOf(ours), topics: [], definitionKeys: [] }]);
    await make('acme', 'mail');
    await until('the event arrives', () => ours.messages.length === 2);
    expect(ours.messages[1]).toMatchObject({ event: 'change', id: changesOf(ours)[1]?.id });
    expect(changesOf(ours)[1]).toMatchObject({ topics: ['jobs'], definitionKeys: ['mail'] });
    // What comes after it has been heard without it.
    await make('rival', 'report');
    await until('the other hears of its own', () => theirs.messages.length === 2);
    expect(changesOf(theirs)[1]).toMatchObject({ topics: ['jobs'], definitionKeys: ['report'] });
    expect(ours.messages).toHaveLength(2);
  });

  it('goes on at another process with what was missed, and with nothing if nothing was', async () => {
    const first = await serve();
    const before = await follow('acme', first);
    await make('acme', 'mail');
    await until('the event arrives', () => before.messages.length === 2);
    await first.stop();
    expect(await before.closed).toBe('closed');
    // A server that stops sends no end: an EventSource comes again.
    expect(before.messages.map(({ event }) => event)).toEqual(['change', 'change']);
    const second = await serve();
    onTestFinished(async () => await second.stop());
    const unchanged = await follow('acme', second, lastIdOf(before));
    await make('acme', 'mail');
    await until('the next event arrives', () => unchanged.messages.length === 1);
    expect(changesOf(unchanged)[0]).toMatchObject({ topics: ['jobs'], definitionKeys: ['mail'] });
    const missed = await follow('acme', second, lastIdOf(before));
    await until('the event arrives at once', () => missed.messages.length === 1);
    expect(changesOf(missed)).toEqual([
      { id: lastIdOf(unchanged), topics: ['jobs'], definitionKeys: null },
    ]);
  });

  it('covers workers and pauses, as far as the tenant may see them', async () => {
    const [ours, theirs] = [await follow('acme'), await follow('rival')];
    await newWorker(database);
    await until('both hear', () => topicsOf(ours).length + topicsOf(theirs).length === 2);
    await pause(database.db, { scope: 'tenant', name: 'acme' }, null, 'too much');
    await until('the event arrives', () => topicsOf(ours).length === 2);
    await resume(database.db, { scope: 'tenant', name: 'acme' });
    await until('it goes on', () => topicsOf(ours).length === 3);
    await newWorker(database);
    await until('both hear again', () => topicsOf(ours).length + topicsOf(theirs).length === 6);
    expect(topicsOf(ours)).toEqual(['workers', 'pauses', 'pauses', 'workers']);
    expect(topicsOf(theirs)).toEqual(['workers', 'workers']);
  });

  it('covers audit entries', async () => {
    const ours = await follow('acme');
    const { keyId, key } = await newKey(database, 'acme', 'jobs:read');
    await until('the event arrives', () => topicsOf(ours).length === 1);
    expect(topicsOf(ours)).toEqual(['audit']);
    keys['short-lived'] = key;
    const listening = await follow('short-lived');
    await revokeKey(database.db, { name: 'test', address: null }, 'acme', keyId);
    expect(await listening.closed).toBe('closed');
  });

  it('is a question as well, and refuses what is none of its ids', async () => {
    const ask = async (query: string, headers = {}) =>
      await fetch(`${server.address}/v1/stream${query}`, {
        headers: { ...as('acme'), ...headers },
      });
    const now = ChangeAnswer.parse(await (await ask('')).json());
    expect(now).toMatchObject({ topics: [], definitionKeys: [] });
    const same: unknown = await (await ask(`?cursor=${now.id}`)).json();
    expect(same).toEqual(now);
    const old = ChangeAnswer.parse(await (await ask('?cursor=0123456789abcdef')).json());
    expect(old.topics).toContain('jobs');
    expect((await ask('?cursor=x')).status).toBe(400);
    const stream = { accept: 'text/event-stream', 'last-event-id': 'x' };
    expect((await ask('', stream)).status).toBe(400);
  });

  it('is followed by the SDK', async () => {
    const client = new Longshore({ url: server.address, apiKey: keys['acme'] });
    const abort = new AbortController();
    const heard: ChangeView[] = [];
    for await (const change of client.changes({ signal: abort.signal })) {
      heard.push(change);
      if (heard.length === 1) await make('acme', 'mail');
      else break;
    }
    abort.abort();
    expect(heard.map(({ definitionKeys }) => definitionKeys)).toEqual([[], ['mail']]);
  });
});
