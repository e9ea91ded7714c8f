import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { endAll, launch } from '../../support/processes.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { hasRedis, startRedis, type TestRedis } from '../../support/servers/redis.ts';
import { until } from '../../support/until.ts';

/**
 * The programs of the guides, run as a reader would run them: the definitions in one server, and those
 * of the other systems against a real Redis and PostgreSQL. Both sides print what the page says.
 */

const PAGES = ['from-bullmq.md', 'from-pg-boss.md', 'from-sidekiq.md'];
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that packages resolve as they do for a user.
const FOLDER = join(ROOT, 'tmp', 'moving-pages');

const database = sharedDatabase();
const workers: ChildProcess[] = [];
let redis: TestRedis | null = null;

const printedBy = (page: string) => blocksOf(`docs/moving/${page}`, '').at(0)?.text ?? '';
const run = async (page: string, file: string) =>
  (await promisify(execFile)(process.execPath, [join(FOLDER, page, file)])).stdout;

beforeAll(async () => {
  redis = hasRedis ? await startRedis() : null;
  const jobs = join(FOLDER, 'jobs');
  const files: [path: string, text: string][] = [];
  for (const page of PAGES) {
    for (const { file, text } of blocksOf(`docs/moving/${page}`, 'ts')) {
      files.push([join(FOLDER, page, file ?? ''), text]);
      if (file?.startsWith('jobs/')) files.push([join(FOLDER, file), text]);
    }
  }
  expect(files).toHaveLength(4 + 4 + 2 + 3);
  await mkdir(jobs, { recursive: true });
  const env = { DATABASE_URL: database.url, LONGSHORE_JOBS: jobs, LONGSHORE_DRAIN_MS: '200' };
  for (const [path, text] of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const { summary } = await launch('start', { env });
  for (const [path, text] of files) {
    const real = text
      .replaceAll('http://127.0.0.1:4400', summary.address)
      .replaceAll('redis://127.0.0.1:6379', redis?.url ?? '')
      .replaceAll('postgres://127.0.0.1/app', database.url);
    if (real !== text) await writeFile(path, real);
  }
});
afterAll(async () => {
  for (const worker of workers) {
    worker.kill('SIGKILL');
    await once(worker, 'exit');
  }
  await redis?.server.remove();
  await endAll();
  await rm(FOLDER, { recursive: true });
});

it.each(PAGES)('the Longshore programs of %s print what it says', async (page) => {
  expect(await run(page, 'app.ts')).toBe(printedBy(page));
});

it.each([
  ['from-bullmq.md', 'bullmq'],
  ['from-pg-boss.md', 'pg-boss'],
])('so do the other programs of %s', async (page, folder) => {
  if (folder === 'bullmq' && !hasRedis) return;
  const worker = spawn(process.execPath, [join(FOLDER, page, folder, 'worker.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  workers.push(worker);
  if (folder === 'pg-boss') await untilQueueExists();
  expect(await run(page, `${folder}/app.ts`)).toBe(printedBy(page));
});

/** The worker of pg-boss creates the queue. */
async function untilQueueExists(): Promise<void> {
  await until('the queue exists', async () => {
    const rows = await database
      .sql<{ count: number }>('select count(*)::int as count from pgboss.schedule')
      .catch(() => []);
    return rows[0]?.count === 1;
  });
}
