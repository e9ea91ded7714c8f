import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { jobInState, startJob } from '../../support/api.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { BIN, endAll, launch } from '../../support/processes.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';

/** The example of docs/guides/dependencies.md, over a server that is killed while parents run. */

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that `longshore` resolves as it does for a user.
const folder = join(ROOT, 'tmp', 'dependencies');
const PAGE = 'docs/guides/dependencies.md';
let database: TestDatabase;

const SLOW = `
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from 'longshore';

/** Ends when the file exists. */
export const slow = defineJob({
  key: 'slow',
  run: async ({ file }: { file: string }) => {
    while (!existsSync(file)) await pause(20);
    return 'slow';
  },
});
`;

beforeAll(async () => {
  database = await testDatabase();
  await mkdir(join(folder, 'jobs'), { recursive: true });
  for (const path of [folder, join(folder, 'jobs')]) await chmod(path, 0o755);
  for (const { text } of blocksOf(PAGE, 'ts')) {
    const [, name = 'unnamed'] = /^\/\/ (\S+)/.exec(text) ?? [];
    await writeFile(join(folder, name), text);
  }
  await writeFile(join(folder, 'jobs/slow.ts'), SLOW);
});
afterEach(endAll);
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const env = () => ({
  DATABASE_URL: database.url,
  LONGSHORE_JOBS: join(folder, 'jobs'),
  LONGSHORE_LEASE_MS: '3000',
});

it('publishes a video after both encodings, as the page says', async () => {
  const { address } = (await launch('start', { env: env() })).summary;
  const variables = { PATH: process.env['PATH'], LONGSHORE_URL: address };
  const program = join(folder, 'publish-video.ts');
  const source = await readFile(program, 'utf8');
  await writeFile(program, source.replace('http://127.0.0.1:4400', address));
  const { stdout } = await run(process.execPath, [program], { env: variables });
  const published = await jobInState(address, stdout.trim(), 'succeeded');
  expect(published.result).toEqual({ video: 'cat', files: ['cat-480.mp4', 'cat-1080.mp4'] });

  const encoded = await startJob(address, 'video.encode', { video: 'dog', height: 480 });
  const [block] = blocksOf(PAGE, 'sh');
  const text = (block?.text ?? 'false')
    .replaceAll('npx longshore', `"${process.execPath}" "${BIN}"`)
    .replaceAll('127.0.0.1:4400', new URL(address).host);
  const shell = await run('sh', ['-ec', text], { env: { ...variables, JOB: encoded } });
  const lines = shell.stdout.split('\n');
  expect(lines.filter((line) => line.includes('video.publish'))).toHaveLength(2);
  expect(lines.find((line) => line.startsWith(encoded))).toContain('video.encode');
});

it('starts a job once after its parents, over a killed server', async () => {
  const first = await launch('start', { env: env() });
  const file = join(folder, 'go');
  const parent = await startJob(first.summary.address, 'slow', { file });
  const { address: before } = first.summary;
  await jobInState(before, parent, 'running');
  const answer = await fetch(`${before}/v1/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      definitionKey: 'video.publish',
      params: { video: 'cat' },
      after: [parent],
    }),
  });
  const { jobId: child, status } = (await answer.json()) as { jobId: string; status: string };
  expect(status).toBe('suspended');
  first.signal('SIGKILL');
  await first.exited;
  await endAll();
  await writeFile(file, '');

  const { address } = (await launch('start', { env: env() })).summary;
  await jobInState(address, parent, 'succeeded');
  expect(await jobInState(address, child, 'succeeded')).toMatchObject({ attempts: 1 });
});
