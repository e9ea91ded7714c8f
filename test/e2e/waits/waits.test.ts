import { execFile } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { jobInState, startJob } from '../../support/api.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { BIN, endAll, launch } from '../../support/processes.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';

/** The approval of docs/waiting.md, over a server that is killed while the job waits. */

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
// Inside the checkout, so that `longshore` and `zod` resolve as they do for a user.
const folder = join(ROOT, 'tmp', 'waits');
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  for (const file of ['refund.ts', 'refund-by-link.ts']) {
    const blocks = blocksOf('docs/waiting.md', 'ts');
    const [code] = blocks.filter(({ text }) => text.includes(`jobs/${file}`));
    await writeFile(join(folder, file), code?.text ?? '');
  }
});
afterEach(endAll);
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const env = () => ({ DATABASE_URL: database.url, LONGSHORE_JOBS: folder });

/** Runs a block of the page as a reader would, with the address of this server. */
async function shell(holding: string, address: string, job: string): Promise<string> {
  const [block] = blocksOf('docs/waiting.md', 'sh').filter(({ text }) => text.includes(holding));
  const text = (block?.text ?? 'false')
    .replaceAll('npx longshore', `"${process.execPath}" "${BIN}"`)
    .replaceAll('127.0.0.1:4400', new URL(address).host);
  const variables = { PATH: process.env['PATH'], JOB: job, LONGSHORE_URL: address };
  return (await run('sh', ['-ec', text], { env: variables })).stdout;
}

it('a job waits for a decision over a killed server, and goes on with it', async () => {
  const first = await launch('start', { env: env() });
  const params = { order: 7, amount: 40 };
  const job = await startJob(first.summary.address, 'refund', params);
  const other = await startJob(first.summary.address, 'refund', { order: 8, amount: 9 });
  for (const id of [job, other]) await jobInState(first.summary.address, id, 'suspended');
  first.signal('SIGKILL');
  await first.exited;
  await endAll();

  const { address } = (await launch('start', { env: env() })).summary;
  expect(await shell('longshore signal', address, job)).toContain('suspended');
  expect((await jobInState(address, job, 'succeeded')).result).toEqual({
    refunded: 40,
    reason: 'order 7 arrived broken',
    note: 'as agreed',
  });
  const answer = JSON.parse(await shell('curl', address, other)) as unknown;
  expect(answer).toEqual({ jobId: other, signal: 'decision', status: 'queued', duplicate: false });
  expect((await jobInState(address, other, 'succeeded')).attempts).toBe(1);
});

it('people without an account decide by links, of the command line and of the job', async () => {
  const more = { LONGSHORE_PUBLIC_URL: 'https://jobs.example.com' };
  const { summary } = await launch('start', { env: { ...env(), ...more } });
  const { address } = summary;
  const mailbox = await startReceiver();
  onTestFinished(async () => await mailbox.close());
  const mailed = { order: 7, mailbox: mailbox.url };
  const job = await startJob(address, 'refund', { order: 7, amount: 40 });
  const other = await startJob(address, 'refund-by-link', mailed);
  for (const id of [job, other]) await jobInState(address, id, 'suspended');

  const [letter] = mailbox.received;
  const links = [await shell('signal-link', address, job), letter?.body ?? ''];
  for (const link of links) {
    expect(link).toMatch(/^https:\/\/jobs\.example\.com\/v1\/links\/lsl_\w+\n?$/);
    const url = link.trim().replace('https://jobs.example.com', address);
    expect(await (await fetch(url)).text()).toContain('Refund order 7?');
    const body = new URLSearchParams({ '/approved': 'false', '/note': 'too late' });
    expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
  }
  expect((await jobInState(address, job, 'succeeded')).result).toMatchObject({ refunded: 0 });
  const { result } = await jobInState(address, other, 'succeeded');
  expect(result).toEqual({ approved: false, note: 'too late' });
});
