import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedDatabase } from '../../support/servers/database.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { jobEnded, scheduling, workerOn } from '../../support/servers/worker.ts';

/** The code blocks of pages that show jobs, run as a reader would run them: copied into a file. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that `longshore` and `zod` resolve as they do for a user.
const FOLDER = join(ROOT, 'tmp', 'docs-examples');
const PAGES = [
  'writing-jobs.md',
  'cancelling.md',
  'waiting.md',
  'limits.md',
  'schedules.md',
  'guides/grouping.md',
  'guides/streams.md',
  'guides/evolving-params.md',
];
const blocks = [...PAGES.map((name) => `docs/${name}`), 'README.md']
  .flatMap((page) => blocksOf(page, 'ts'))
  // The other blocks are programs, or files that are used by one.
  .filter(({ text, file }) => file === null && text.includes('export const'))
  .map(({ text }) => text);
const keys = blocks.flatMap((code) =>
  [...code.matchAll(/key: '(.*?)'/g)].map(([, key = '']) => key),
);

/** What the report of the README leaves to its reader. */
const READERS = `
  const fetchRows = async (month: string) => [{ month, amount: 3 }];
  const render = async (rows: { amount: number }[]) => ({ file: 'report.pdf', rows: rows.length });
  const page = (message: string) => console.log(message);
`;

const database = sharedDatabase();
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  for (const [index, code] of blocks.entries()) {
    const more = code.includes('fetchRows(') ? READERS : '';
    await writeFile(join(FOLDER, `block-${index}.ts`), code + more);
  }
  const [program] = blocksOf('docs/writing-jobs.md', 'python');
  await writeFile(join(FOLDER, 'count.py'), program?.text ?? '');
  await copyFile(join(ROOT, 'examples/jobs/word-count.py'), join(FOLDER, 'word-count.py'));
  const { worker, stop } = workerOn(database, { jobs: FOLDER });
  await worker.start();
  stops.push(stop, await scheduling(database));
  expect(worker.report.problems).toEqual([]);
});

afterAll(async () => {
  for (const stop of stops) await stop();
  await rm(FOLDER, { recursive: true });
});

const EXPECTED: Record<string, [params: unknown, result: unknown]> = {
  'docs.thumbnail': [{ name: 'cat', width: 200 }, { file: 'cat-200.png' }],
  'docs.sync': [{ account: 'a' }, { synced: 'a' }],
  'docs.import': [{ rows: 5 }, { startedAt: 2 }],
  'docs.report': [{ month: '2026-11' }, { file: 'report-3.pdf', attempt: 2 }],
  'docs.invoice': [{ total: 7 }, { paid: 7 }],
  'docs.word-count': [{ text: 'three little words' }, { words: 3 }],
  'docs.patient': [{ rounds: 3 }, { rounds: 3 }],
  'docs.watched': [{ files: ['a', 'b'] }, { done: 2 }],
  'docs.welcome': [{ user: 'Ann' }, { mails: 2 }],
  invoice: [{ customer: 'ada' }, { customer: 'ada' }],
  'image.resize': [{ file: 'a.png' }, { file: 'a.png' }],
  'report.build': [{}, null],
  'docs.geocode': [
    { street: 'Unter den Linden', city: 'Berlin' },
    { lat: 52.5, lon: 13.4 },
  ],
  'docs.answer': [{ question: 'tide' }, { text: 'It depends on the tide.' }],
  'docs.invite': [
    { emails: ['a@example.com'], language: 'de' },
    { invited: 1, language: 'de' },
  ],
  report: [{ month: '2026-11' }, { file: 'report.pdf', rows: 1 }],
  'word-count': [{ text: 'three little words' }, expect.objectContaining({ words: 3 })],
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

it('a program that fails is listed with its error', async () => {
  const asked = { definitionKey: 'docs.word-count', paramsJson: '{}', maxAttempts: 1 };
  const job = await jobEnded(database, await enqueueOne(database, asked));
  const [first] = job.error?.message.split('\n') ?? [];
  expect(first).toBe("the command exited with code 1: KeyError: 'text'");
});

it('docs.invite upgrades older params', async () => {
  const older = { 1: { email: 'a@example.com' }, 2: { emails: ['a@example.com'] } };
  for (const [shape, params] of Object.entries(older)) {
    const asked = { definitionKey: 'docs.invite', paramsJson: JSON.stringify(params) };
    const jobId = await enqueueOne(database, { ...asked, paramsShape: Number(shape) });
    const job = await jobEnded(database, jobId);
    expect(job.result).toEqual({ invited: 1, language: 'en' });
  }
});

it('docs.geocode answers for each item', async () => {
  const asked = { definitionKey: 'docs.geocode', maxAttempts: 1 };
  const ids = ['Berlin', 'Atlantis'].map(
    async (city) =>
      await enqueueOne(database, { ...asked, paramsJson: JSON.stringify({ street: 'a', city }) }),
  );
  const [found, lost] = await Promise.all(ids.map(async (id) => jobEnded(database, await id)));
  expect(found).toMatchObject({ status: 'succeeded' });
  expect(lost).toMatchObject({ status: 'failed', error: { message: 'no such address' } });
});
