import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchJob } from '../../../src/app/built-in/batch-job.ts';
import { type BatchOptions, Longshore } from '../../../src/client/index.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { scheduling, workerOn } from '../../support/servers/worker.ts';

/** `client.batch`, over real HTTP. */

const database = sharedDatabase({ shards: 4 });
const stops: (() => Promise<void>)[] = [];
let client: Longshore;
let address = '';

const double = defineJob({ key: 'double', isolation: 'inline', run: (n: number) => 2 * n });
const report = defineJob({
  key: 'report',
  isolation: 'inline',
  run: (_: unknown, ctx) => ctx.parents[0]?.result,
});

beforeAll(async () => {
  const { db, enqueuer } = database;
  const deps = { db, enqueuer, log: silentLog, host: '127.0.0.1', port: 0, version: '0' };
  const server = new HttpServer(deps);
  await server.start();
  ({ address } = server);
  client = new Longshore({ url: address });
  const builtIn = { definitions: [batchJob(db)], slots: 3 };
  const { worker, stop } = workerOn(database, { jobs: [double, report], builtIn, slots: 50 });
  await worker.start();
  stops.push(stop, await scheduling(database), async () => await server.stop());
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const doubles = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ definition: double, params: n }));

it('stores a long list in parts, and ends once with all of them', async () => {
  const batch = await client.batch(doubles(1_001), {
    name: 'long',
    onSuccess: { definition: report },
  });
  const ended = await batch.result({ pollMs: 20 });
  expect(ended).toMatchObject({ name: 'long', status: 'succeeded', total: 1_001, pending: 0 });
  const result = await client.handle(ended.onSuccess ?? '').result({ pollMs: 20 });
  expect(result).toEqual({ total: 1_001, succeeded: 1_001, failed: 0, cancelled: 0 });
});

it('adds jobs until it is closed', async () => {
  const batch = await client.batch([], { open: true });
  expect(await batch.add(doubles(2))).toMatchObject({ status: 'open', total: 2 });
  expect((await batch.close()).closedAt).not.toBeNull();
  expect(await batch.result({ pollMs: 20 })).toMatchObject({ status: 'succeeded', succeeded: 2 });
  await expect(batch.add(doubles(1))).rejects.toMatchObject({ code: 'BATCH_CLOSED' });
  expect((await client.batches.jobs(batch.id, { state: 'succeeded' })).jobs).toHaveLength(2);
  expect((await client.batches.list({ limit: 1 })).batches.map(({ id }) => id)).toEqual([batch.id]);
});

it('refuses a callback that is only a key', async () => {
  const wrong = { onComplete: 'report' } as unknown as BatchOptions;
  await expect(client.batch(doubles(1), wrong)).rejects.toThrow(
    'onComplete must be { definition, params }',
  );
});

it('cancels the batch when a later part is refused, and names the place in the list', async () => {
  const entries = [...doubles(1_004), { definition: 'no key!', params: 0 }];
  const refused = client.batch(entries, { name: 'refused' });
  await expect(refused).rejects.toMatchObject({
    errors: [{ pointer: '/jobs/1004/definitionKey' }],
  });
  const [batch] = (await client.batches.list({ limit: 1 })).batches;
  const ended = await client.batches.handle(batch?.id ?? '').result({ pollMs: 20 });
  expect(ended).toMatchObject({ name: 'refused', status: 'cancelled', total: 1_000 });
});

it('retries what was cancelled', async () => {
  const later = doubles(1).map((one) => ({ ...one, options: { delayMs: 3_600_000 } }));
  const batch = await client.batch(later);
  await batch.cancel();
  await batch.result({ pollMs: 20 });
  await batch.retry();
  expect(await batch.result({ pollMs: 20 })).toMatchObject({ status: 'succeeded', succeeded: 1 });
});

it('cancels a batch with its jobs', async () => {
  const later = doubles(2).map((one) => ({ ...one, options: { delayMs: 3_600_000 } }));
  const batch = await client.batch(later);
  await batch.cancel();
  expect(await batch.result()).toMatchObject({ status: 'cancelled' });
});

it('makes one batch of a call that is repeated with its key', async () => {
  const options = { idempotencyKey: 'a "key" of mine', onComplete: { definition: report } };
  const first = await client.batch(doubles(3), options);
  await first.result({ pollMs: 20 });
  const again = await client.batch(doubles(3), options);
  expect(again.id).toBe(first.id);
  expect(await again.status()).toMatchObject({ status: 'succeeded', total: 3 });
  const other = client.batch(doubles(4), options);
  await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
});

it.each([
  [1_500, 'IDEMPOTENCY_CONFLICT'],
  [2_000, 'BATCH_CLOSED'],
])(
  'does not cancel the batch of a call with %i jobs when it comes with more',
  async (count, code) => {
    const options = { idempotencyKey: `grown from ${count}` };
    const later = (jobs: number) =>
      doubles(jobs).map((one) => ({ ...one, options: { delayMs: 3_600_000 } }));
    const batch = await client.batch(later(count), options);
    await expect(client.batch(later(2_500), options)).rejects.toMatchObject({ code });
    expect(await batch.status()).toMatchObject({ status: 'running', pending: count });
    await batch.cancel();
  },
);

it('leaves a batch that has ended as it is when its key comes with more jobs', async () => {
  const options = { idempotencyKey: 'grown late' };
  const batch = await client.batch(doubles(1_500), options);
  await batch.result({ pollMs: 20 });
  const code = 'IDEMPOTENCY_CONFLICT';
  await expect(client.batch(doubles(2_500), options)).rejects.toMatchObject({ code });
  expect(await batch.status()).toMatchObject({ status: 'succeeded', total: 1_500 });
});

it('finishes a long list whose first call died midway', async () => {
  const jobs = doubles(1_000).map(({ params }) => ({ definitionKey: 'double', params }));
  const answer = await fetch(`${address}/v1/batches`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': '"long"' },
    body: JSON.stringify({ jobs, open: true }),
  });
  const { id } = (await answer.json()) as { id: string };
  for (let times = 0; times < 2; times += 1) {
    const batch = await client.batch(doubles(2_100), { idempotencyKey: 'long' });
    expect(batch.id).toBe(id);
    expect(await batch.result({ pollMs: 20 })).toMatchObject({ status: 'succeeded', total: 2_100 });
  }
});

it('adds jobs once that are sent again with their key', async () => {
  const batch = await client.batch([], { open: true });
  for (let times = 0; times < 2; times += 1) {
    const added = await batch.add(doubles(1_200), { idempotencyKey: 'first' });
    expect(added).toMatchObject({ total: 1_200 });
  }
  expect(await batch.add(doubles(1), { idempotencyKey: 'second' })).toMatchObject({
    total: 1_201,
  });
  await batch.close();
});
