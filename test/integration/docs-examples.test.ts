import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/database.ts';
import { enqueueOne } from '../support/jobs.ts';
import { jobEnded, scheduling, workerOn } from '../support/worker.ts';

/** The code blocks of pages that show jobs, run as a reader would run them: copied into a file. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// Inside the checkout, so that `longshore` and `zod` resolve as they do for a user.
const FOLDER = join(ROOT, 'tmp', 'docs-examples');
const page = ['writing-jobs.md', 'cancelling.md', 'limits.md']
  .map((name) => readFileSync(join(ROOT, 'docs', name), 'utf8'))
  .join('\n');
const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
const keys = blocks.flatMap((code) => /key: '(.*?)'/.exec(code)?.[1] ?? []);

let database: TestDatabase;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await testDatabase();
  await mkdir(FOLDER, { recursive: true });
  for (const [index, code] of blocks.entries()) {
    await writeFile(join(FOLDER, `block-${index}.ts`), code);
  }
  const { worker, stop } = workerOn(database, { jobs: FOLDER });
  await worker.start();
  stops.push(stop, await scheduling(database));
  expect(worker.report.problems).toEqual([]);
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await database.close();
  await rm(FOLDER, { recursive: true });
});

const EXPECTED: Record<string, [params: unknown, result: unknown]> = {
  'docs.thumbnail': [{ name: 'cat', width: 200 }, { file: 'cat-200.png' }],
  'docs.sync': [{ account: 'a' }, { synced: 'a' }],
  'docs.import': [{ rows: 5 }, { startedAt: 2 }],
  'docs.report': [{ month: '2026-11' }, { file: 'report-3.pdf', attempt: 2 }],
  'docs.invoice': [{ total: 7 }, { paid: 7 }],
  'docs.word-count': ['three little words', { words: 3 }],
  'docs.patient': [{ rounds: 3 }, { rounds: 3 }],
  invoice: [{ customer: 'ada' }, { customer: 'ada' }],
};

it('has a try for each of them', () => {
  expect(keys).toEqual(Object.keys(EXPECTED));
});

it.each(keys)('%s does what the page says', async (definitionKey) => {
  const [params, result] = EXPECTED[definitionKey] ?? [];
  const paramsJson = JSON.stringify(params);
  const job = await jobEnded(database, await enqueueOne(database, { definitionKey, paramsJson }));
  expect(job.error).toBeNull();
  expect(job).toMatchObject({ status: 'succeeded', result });
});
