import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Longshore } from '../../../src/client/index.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { newKey, newTenant } from '../../support/server-edge.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { scheduling, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

/** `client.signal` and `handle.signal`, over real HTTP. */

const database = sharedDatabase({ shards: 4 });
const stops: (() => Promise<void>)[] = [];
const clients: Record<string, Longshore> = {};

const approval = defineJob({
  key: 'approval',
  isolation: 'inline',
  run: async (_: unknown, ctx) =>
    await ctx.waitFor('decision', { schema: z.object({ approved: z.boolean() }) }),
});

beforeAll(async () => {
  const { db, enqueuer } = database;
  const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const server = new HttpServer(deps);
  await server.start();
  for (const tenant of ['acme', 'rival']) {
    await newTenant(database, tenant);
    const { key: apiKey } = await newKey(database, tenant, 'jobs:read', 'jobs:write');
    clients[tenant] = new Longshore({ url: server.address, apiKey });
  }
  const { worker, stop } = workerOn(database, { jobs: [approval] });
  await worker.start();
  stops.push(stop, await scheduling(database), async () => await server.stop());
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

function clientOf(tenant: string): Longshore {
  const client = clients[tenant];
  if (!client) throw new Error(`no client of ${tenant}`);
  return client;
}

async function waiting() {
  const handle = await clientOf('acme').enqueue(approval, {});
  await until('it waits', async () => (await handle.get()).status === 'suspended' || null);
  return handle;
}

describe('a signal', () => {
  it('resumes the job, and the same again changes nothing', async () => {
    const handle = await waiting();
    const sent = await handle.signal('decision', { approved: true });
    expect(sent).toMatchObject({ jobId: handle.id, signal: 'decision', duplicate: false });
    expect(await handle.result({ pollMs: 20 })).toEqual({ approved: true });
    const again = await clientOf('acme').signal(handle.id, 'decision', { approved: true });
    expect(again).toMatchObject({ status: 'succeeded', duplicate: true });
  });

  it('with another payload than the first is refused', async () => {
    const handle = await waiting();
    await handle.signal('decision', { approved: false });
    await expect(handle.signal('decision', { approved: true })).rejects.toMatchObject({
      status: 409,
      code: 'CONFLICT',
    });
    expect(await handle.result({ pollMs: 20 })).toEqual({ approved: false });
  });

  it('that does not fit the schema names the field, and the job waits on', async () => {
    const handle = await waiting();
    await expect(handle.signal('decision', { approved: 'yes' })).rejects.toMatchObject({
      status: 400,
      code: 'PAYLOAD_INVALID',
      errors: [{ pointer: '/payload/approved' }],
    });
    expect((await handle.get()).status).toBe('suspended');
    await handle.signal('decision', { approved: true });
    expect(await handle.result({ pollMs: 20 })).toEqual({ approved: true });
  });

  it('of another name is kept, with a warning', async () => {
    const handle = await waiting();
    const sent = await handle.signal('descision', { approved: true });
    expect(sent).toMatchObject({ status: 'suspended', warnings: [{ code: 'NOT_AWAITED' }] });
    await handle.signal('decision', { approved: true });
    await handle.result({ pollMs: 20 });
  });

  it('that comes before the job runs is there when it waits', async () => {
    const handle = await clientOf('acme').enqueue(approval, {}, { delayMs: 300 });
    expect(await handle.signal('decision', { approved: true })).toMatchObject({
      status: 'scheduled',
    });
    expect(await handle.result({ pollMs: 20 })).toEqual({ approved: true });
  });

  it('of another tenant finds no job', async () => {
    const handle = await waiting();
    const foreign = clientOf('rival').signal(handle.id, 'decision', { approved: true });
    await expect(foreign).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect((await handle.get()).status).toBe('suspended');
    await handle.signal('decision', { approved: false });
    expect(await handle.result({ pollMs: 20 })).toEqual({ approved: false });
  });

  it('for an invalid id sends no request', async () => {
    const answer = clientOf('acme').signal('../tenants', 'decision', null);
    await expect(answer).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
