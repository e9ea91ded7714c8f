import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../../../../test/support/cli.ts';
import { json, playBeside } from '../../../../../test/support/servers/playing-server.ts';

const ID = '01980000-0000-7000-8000-000000000000';
let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-batch-'));
  file = join(folder, 'jobs.jsonl');
  await writeFile(file, '{"definitionKey":"helo"}\n{"definitionKey":"hello"}\n');
});
afterAll(async () => await rm(folder, { recursive: true }));

function batch(status: string, pending: number) {
  const counts = { total: 2, pending, succeeded: 2 - pending, failed: 0, cancelled: 0 };
  const times = { createdAt: '2030-01-01T00:00:00Z', closedAt: null, endedAt: null };
  return json(200, { id: ID, name: null, status, ...counts, onComplete: null, ...times });
}

const known = { '/definitions': json(200, { definitions: [{ key: 'hello' }] }) };
const TYPO = 'no worker has registered "helo": did you mean "hello"?';

it('says which definition is mistyped, callbacks included', async () => {
  const { url } = await playBeside(known, batch('running', 2));
  const args = ['batch', 'create', file, '--on-complete', 'hllo', '--url', url];
  const { code, stderr } = await run(args);
  expect(code).toBe(0);
  expect(stderr).toBe(
    `batch ${ID}\nwarning: ${TYPO}\n` +
      'warning: no worker has registered "hllo": did you mean "hello"?\n',
  );
});

it('sends the params of callbacks', async () => {
  const { url, seen } = await playBeside(known, batch('running', 2));
  const params = join(folder, 'params.json');
  await writeFile(params, '{"to":"ada"}');
  const complete = ['--on-complete', 'hello', '--on-complete-params', `@${params}`];
  const success = ['--on-success', 'hello', '--on-success-params', '[1]'];
  const args = ['batch', 'create', file, ...complete, ...success, '--url', url];
  expect((await run(args)).code).toBe(0);
  expect(seen[0]?.body).toMatchObject({
    onComplete: { definitionKey: 'hello', params: { to: 'ada' } },
    onSuccess: { definitionKey: 'hello', params: [1] },
  });
});

it.each([
  [['--on-success-params', '{}'], '--on-success-params needs --on-success'],
  [['--on-complete', 'hello', '--on-complete-params', '-'], 'stdin is for the jobs'],
])('refuses %j', async (flags, problem) => {
  const { code, stderr } = await run(['batch', 'create', file, ...flags]);
  expect(code).toBe(2);
  expect(stderr).toContain(problem);
});

it('--wait does not wait for a mistyped definition: exit 3', async () => {
  const { url } = await playBeside(known, batch('running', 2));
  const { code, stderr } = await run(['batch', 'create', file, '--wait', '--url', url]);
  expect(code).toBe(3);
  expect(stderr.split('\n')[0]).toBe(`batch ${ID}`);
  expect(stderr).toContain(TYPO);
  expect(stderr).toContain(`longshore batch cancel ${ID}`);
});

it('--wait --timeout shows progress and exits with 7', async () => {
  const { url } = await playBeside(known, batch('running', 2), batch('running', 1));
  const args = ['batch', 'create', file, '--wait', '--timeout', '0.2', '--url', url];
  const { code, stderr } = await run(args);
  expect(code).toBe(7);
  expect(stderr).toContain(`warning: ${TYPO} Waiting 200 ms for one.\n`);
  expect(stderr).toContain('2 jobs: 1 pending, 1 succeeded, 0 failed, 0 cancelled\n');
  expect(stderr).toContain(`batch ${ID} did not end within 200 ms; it is still running`);
});

it('a file that does not exist is a usage error', async () => {
  const { code, stderr } = await run(['batch', 'create', 'nofile', '--url', 'http://127.0.0.1:9']);
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cannot read nofile: there is no such file'),
  });
});
