import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createLongshore,
  defineJob,
  type InProcess,
  InvalidRequest,
  type JobStarter,
  NotFound,
} from '../../../src/index.ts';
import { createTestRig, type TestRig } from '../../../src/testing/index.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** The batches of `client.batch`, without HTTP: inside an application, and in the test rig. */

const database = sharedDatabase();
let longshore: InProcess;
let rig: TestRig;

const double = defineJob({
  key: 'double',
  isolation: 'inline',
  maxAttempts: 1,
  run: (n: number) => {
    if (n < 0) throw new Error('negative');
    return 2 * n;
  },
});
const report = defineJob({
  key: 'report',
  isolation: 'inline',
  run: (_: unknown, ctx) => ctx.parents[0]?.result ?? ctx.parents[0]?.error?.message ?? null,
});

beforeAll(async () => {
  const jobs = [double, report];
  longshore = await createLongshore({ databaseUrl: database.url, jobs, pollMs: 200 });
  rig = await createTestRig({ jobs, databaseUrl: database.url, concurrency: 20 });
});
afterAll(async () => {
  await longshore.stop();
  await rig.stop();
});

const doubles = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ definition: double, params: n }));

/** Code that takes either. */
const makeLong = async (jobs: JobStarter) =>
  await jobs.batch(doubles(1_001), { name: 'long', onSuccess: { definition: report } });

it('a long list is stored in parts, and ends once with all of them', async () => {
  const batch = await makeLong(longshore);
  const ended = await batch.result({ pollMs: 50 });
  expect(ended).toMatchObject({ name: 'long', status: 'succeeded', total: 1_001, pending: 0 });
  const result = await longshore.handle(ended.onSuccess ?? '').result();
  expect(result).toEqual({ total: 1_001, succeeded: 1_001, failed: 0, cancelled: 0 });
});

describe('in the test rig', () => {
  it('drain runs the jobs, the batch and its callback', async () => {
    const batch = await rig.batch([...doubles(2), { definition: double, params: -1 }], {
      onComplete: { definition: report },
      open: true,
    });
    expect(await batch.add(doubles(1))).toMatchObject({ status: 'open', total: 4 });
    await batch.close();
    await expect(batch.add(doubles(1))).rejects.toMatchObject({ code: 'BATCH_CLOSED' });
    await rig.drain();
    const ended = await batch.result();
    expect(ended).toMatchObject({ status: 'failed', succeeded: 3, failed: 1 });
    expect((await rig.get(ended.onComplete ?? '')).result).toContain('1 of 4 jobs did not succeed');
    expect(await batch.retry()).toMatchObject({ pending: 1 });
  });

  it('a batch can be cancelled', async () => {
    const batch = await rig.batch(doubles(2));
    expect((await batch.status()).status).toBe('running');
    await batch.cancel();
    await rig.drain();
    expect(await rig.batches.get(batch.id)).toMatchObject({ status: 'cancelled', cancelled: 2 });
  });

  it('refuses what the client refuses', async () => {
    const hold = { definition: double, params: 1, options: { hold: true } };
    const refused = rig.batch([...doubles(1), hold]);
    await expect(refused).rejects.toThrow(InvalidRequest);
    await expect(refused).rejects.toMatchObject({
      errors: [{ pointer: '/jobs/1/hold', detail: 'a job of a batch has no hold' }],
    });
    const wrong = { onCompleted: { definition: report } } as object;
    await expect(rig.batch([], wrong)).rejects.toThrow('onComplete');
    const unknown = rig.batches.handle('0195c1b2-0000-7000-8000-000000000000');
    await expect(unknown.status()).rejects.toThrow(NotFound);
    await expect(unknown.add(doubles(1))).rejects.toThrow(NotFound);
    await expect(rig.batches.get('..')).rejects.toThrow(NotFound);
  });
});

it('a call that is repeated with its key makes one batch', async () => {
  const options = { idempotencyKey: 'mine' };
  const first = await longshore.batch(doubles(1_001), options);
  await first.result({ pollMs: 50 });
  const again = await longshore.batch(doubles(1_001), options);
  expect(again.id).toBe(first.id);
  expect(await again.status()).toMatchObject({ status: 'succeeded', total: 1_001 });
});
