import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { BIN, endAll, FIXTURES, launch } from '../../support/processes.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

/** The example of docs/guides/large-values.md, and a worker that is killed. */

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that `longshore` resolves as it does for a user.
const folder = join(ROOT, 'tmp', 'large-values');
const PAGE = 'docs/guides/large-values.md';
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await mkdir(join(folder, 'jobs'), { recursive: true });
  for (const path of [folder, join(folder, 'jobs')]) await chmod(path, 0o755);
  for (const { text } of blocksOf(PAGE, 'ts')) {
    const [, name = 'unnamed'] = /^\/\/ (\S+)/.exec(text) ?? [];
    await writeFile(join(folder, name), text);
  }
});
afterEach(endAll);
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

/** The setting is that of the page. */
const env = (jobs: string) => {
  const [block] = blocksOf(PAGE, 'sh');
  const [, bytes = ''] = /LONGSHORE_LARGE_VALUES_MAX_BYTES=(\d+)/.exec(block?.text ?? '') ?? [];
  return {
    DATABASE_URL: database.url,
    LONGSHORE_JOBS: jobs,
    LONGSHORE_LEASE_MS: '3000',
    LONGSHORE_ARTIFACTS: join(folder, 'values'),
    LONGSHORE_LARGE_VALUES_MAX_BYTES: bytes,
    LONGSHORE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 3).toString('base64')}`,
  };
};

it('adds up the orders of the page, and the command line has the values in full', async () => {
  const { address } = (await launch('start', { env: env(join(folder, 'jobs')) })).summary;
  const variables = { PATH: process.env['PATH'], LONGSHORE_URL: address };
  const program = join(folder, 'total-orders.ts');
  const source = await readFile(program, 'utf8');
  await writeFile(program, source.replace('http://127.0.0.1:4400', address));
  const { stdout } = await run(process.execPath, [program], { env: variables });
  const [cents, params, result] = stdout.trim().split(' ').map(Number);
  expect(cents).toBe(5_000_000);
  expect(Math.min(params ?? 0, result ?? 0)).toBeGreaterThan(1_048_576);
  const [job] = (await new Longshore({ url: address }).list({})).jobs;
  const cli = async (...args: string[]) =>
    (await run(process.execPath, [BIN, ...args], { env: variables, maxBuffer: 1e8 })).stdout;
  expect(await cli('show', job?.jobId ?? '')).toContain(
    `params      ${params} bytes: npx longshore`,
  );
  const shown = JSON.parse(await cli('show', job?.jobId ?? '', '--result')) as { lines: string[] };
  expect(shown.lines).toHaveLength(50_000);
});

it('a job with large params and a large result survives a killed worker', async () => {
  const own = env(join(FIXTURES, 'large'));
  const { address: url } = (await launch('api', { env: own })).summary;
  const client = new Longshore({ url });
  const file = join(folder, 'go');
  const worker = await launch('worker', { env: own });
  const filler = 'f'.repeat(300_000);
  const job = await client.enqueue('produce', { chars: 2_000_000, waitsFor: file, filler });
  await until('it runs', async () => (await job.get()).status === 'running');
  worker.signal('SIGKILL');
  await worker.exited;
  await writeFile(file, '');
  await launch('worker', { env: own });
  const { text } = (await job.result()) as { text: string };
  expect(text.length).toBe(2_000_000);
  const { attempts, largeParams, largeResult } = await job.get();
  expect(attempts).toBe(2);
  expect([largeParams?.bytes, largeResult?.bytes].every((bytes) => (bytes ?? 0) > 300_000)).toBe(
    true,
  );
  const [{ plain } = { plain: -1 }] = await database.sql<{ plain: number }>(
    `select count(*)::int as plain from longshore.large_value where key_id is distinct from 'k1'`,
  );
  expect(plain).toBe(0);
});
