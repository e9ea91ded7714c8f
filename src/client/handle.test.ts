import { expect, test } from 'vitest';
import {
  hangUp,
  json,
  playAnswers,
  problem,
  silence,
} from '../../test/support/servers/playing-server.ts';
import { Longshore, WaitTimeout } from './index.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const running = json(200, { jobId: ID, status: 'running' });

test('waiting ends with the finished job, however it ended', async () => {
  const { url, seen } = await playAnswers(running, running, json(200, { status: 'failed' }));
  const job = await new Longshore({ url }).handle(ID).wait({ timeoutMs: 5_000 });
  expect(job.status).toBe('failed');
  expect(seen.map((one) => one.url)).toEqual(Array(3).fill(`/v1/jobs/${ID}`));
});

test('the pauses grow up to the given one', async () => {
  const { url, seen } = await playAnswers(running);
  const handle = new Longshore({ url }).handle(ID);
  const error = await handle
    .wait({ timeoutMs: 400, pollMs: 100 })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WaitTimeout);
  expect(error).toMatchObject({ job: { status: 'running' } });
  expect((error as Error).message).toBe(`job ${ID} did not end within 400 ms; it is still running`);
  // 25, 38, 56, 84, 100, 100 …: between a tight loop and a look every 100 ms.
  expect(seen.length).toBeGreaterThanOrEqual(2);
  expect(seen.length).toBeLessThanOrEqual(8);
});

test('a server that hangs does not make the waiting longer', async () => {
  const { url } = await playAnswers(silence);
  const startedAt = performance.now();
  const waiting = new Longshore({ url }).handle(ID).wait({ timeoutMs: 100 });
  await expect(waiting).rejects.toBeInstanceOf(WaitTimeout);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('a server that is away for a moment does not end the waiting', async () => {
  const away = [hangUp, problem(503, 'UNAVAILABLE'), hangUp];
  const { url } = await playAnswers(running, ...away, json(200, { status: 'succeeded' }));
  const job = await new Longshore({ url, retries: 0 }).handle(ID).wait({ pollMs: 20 });
  expect(job.status).toBe('succeeded');
});

test('a job that is not there ends it', async () => {
  const { url } = await playAnswers(problem(404, 'NOT_FOUND'));
  const waiting = new Longshore({ url }).handle(ID).wait({ timeoutMs: 5_000 });
  await expect(waiting).rejects.toMatchObject({ status: 404 });
});

test('the own signal of the caller ends it with its reason', async () => {
  const { url } = await playAnswers(running);
  const reason = new Error('no longer needed');
  const abort = new AbortController();
  setTimeout(() => abort.abort(reason), 50);
  const waiting = new Longshore({ url }).handle(ID).wait({ signal: abort.signal });
  await expect(waiting).rejects.toBe(reason);
});

test('a handle cancels its job', async () => {
  const { url, seen } = await playAnswers(json(202, { jobId: ID, status: 'cancelling' }));
  expect(await new Longshore({ url }).handle(ID).cancel()).toMatchObject({ status: 'cancelling' });
  expect(seen[0]).toMatchObject({ method: 'POST', url: `/v1/jobs/${ID}/cancel` });
});
