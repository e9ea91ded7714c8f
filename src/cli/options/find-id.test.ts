import { expect, test } from 'vitest';
import { run } from '../../../test/support/cli.ts';
import { json, playAnswers } from '../../../test/support/servers/playing-server.ts';

const IDS = ['01980000-0000-7000-8000-0000000000aa', '01980000-0000-7000-8000-0000000001aa'];
const jobs = IDS.map((jobId) => ({ jobId, definitionKey: 'hello', status: 'failed' }));
const found = (...some: object[]) => json(200, { jobs: some, nextCursor: null });
const receipt = json(202, { jobId: IDS[0], status: 'cancelled' });

test('a job is named by the end of its id', async () => {
  const { url, seen } = await playAnswers(found(jobs[0] ?? {}), receipt);
  const { code, stdout } = await run(['cancel', '0000000000AA', '--url', url]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${IDS[0]}  cancelled\n` });
  expect(seen.map((one) => one.url)).toEqual([
    '/v1/jobs?id=0000000000aa',
    `/v1/jobs/${IDS[0]}/cancel`,
  ]);
});

test('several matches are listed, and nothing is changed', async () => {
  const { url, seen } = await playAnswers(found(...jobs));
  const { code, stderr } = await run(['cancel', '01980000', '--url', url]);
  expect(code).toBe(2);
  expect(stderr).toBe(
    `error: several job ids match "01980000": ${IDS[0]} (hello, failed); ${IDS[1]} (hello, failed)\n`,
  );
  expect(seen).toHaveLength(1);
});

test.each(['cancel', 'show', 'logs'])('%s of what can be no id asks no server', async (command) => {
  const { code, stderr } = await run([command, 'hello', '--url', 'http://127.0.0.1:1']);
  expect(code).toBe(3);
  expect(stderr).toMatch(/^error: job "hello" not found: give the whole id, or 4 or more char/);
});

test('a worker is named by a part of its id, too', async () => {
  const workers = ['6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10', '6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e11'];
  const all = workers.map((workerId) => ({ workerId, host: 'jobs-1', status: 'alive' }));
  const drained = json(202, { workerId: workers[1], status: 'draining' });
  const { url, seen } = await playAnswers(json(200, { workers: all }), drained);
  expect((await run(['workers', 'drain', '7d9e11', '--url', url])).code).toBe(0);
  expect(seen[1]?.url).toBe(`/v1/workers/${workers[1]}/drain`);
});

test('a terminal shows short ids, and a pipe whole ones', async () => {
  const job = { ...jobs[0], attempts: 1, maxAttempts: 3, createdAt: '2030-01-01T00:00:00Z' };
  const { url } = await playAnswers(found({ ...job, error: null }));
  const shown = await run(['list', '--no-color', '--url', url], { terminal: true });
  expect(shown.stdout).toMatch(/^0000000000aa {2}hello/m);
  expect((await run(['list', '--url', url])).stdout).toContain(`${IDS[0]}  hello`);
});

test('a batch is looked for among batches', async () => {
  const id = IDS[0] ?? '';
  const batch = { id, name: 'nightly', status: 'running', onComplete: null, onSuccess: null };
  const counts = { total: 1, pending: 1, succeeded: 0, failed: 0, cancelled: 0 };
  const of = { jobId: id, definitionKey: '$batch', status: 'suspended' };
  const { url, seen } = await playAnswers(found(of), json(200, { ...batch, ...counts }));
  const { stdout } = await run(['batch', 'show', '0000000000AA', '--url', url]);
  expect(stdout).toBe(
    `${id}  running  nightly\n1 job: 1 pending, 0 succeeded, 0 failed, 0 cancelled\n`,
  );
  expect(seen.map((one) => one.url)).toEqual([
    '/v1/jobs?id=0000000000aa&definitionKey=%24batch',
    `/v1/batches/${id}`,
  ]);
  const missing = await run(['batch', 'close', 'hello', '--url', 'http://127.0.0.1:1']);
  expect(missing.stderr).toMatch(/^error: batch "hello" not found: /);
});
