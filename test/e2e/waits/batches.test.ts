import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { BatchView } from '../../../src/core/batch/batch.ts';
import { jobInState, post } from '../../support/api.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { BIN, killWhole, launch } from '../../support/processes.ts';
import { pageProject, SLOW_JOB } from '../../support/page-project.ts';
import { until } from '../../support/until.ts';

/** The example of docs/guides/batches.md, the commands, and a batch whose server is killed before its last job ends. */

const run = promisify(execFile);
const PAGE = 'docs/guides/batches.md';

/** Fails until its file is there. */
const NEEDS_FILE_JOB = `import { existsSync } from 'node:fs';
import { defineJob } from 'longshore';
export const needsFile = defineJob({
  key: 'needs-file',
  maxAttempts: 1,
  run: ({ file }: { file: string }) => {
    if (!existsSync(file)) throw new Error('there is no file');
  },
});
`;

const { folder, env, database } = pageProject(
  PAGE,
  { 'jobs/slow.ts': SLOW_JOB, 'jobs/needs-file.ts': NEEDS_FILE_JOB },
  3_000,
);
const ended = async (address: string, id: string) =>
  await until(`batch ${id} has ended`, async () => {
    const answer = await fetch(`${address}/v1/batches/${id}`).catch(() => null);
    const batch = answer?.ok ? ((await answer.json()) as BatchView) : null;
    return batch?.endedAt ? batch : null;
  });

it('sends newsletters in batches, as the page says', async () => {
  const { address } = (await launch('start', { env: env() })).summary;
  const variables = { PATH: process.env['PATH'], LONGSHORE_URL: address };
  const program = join(folder, 'send-newsletter.ts');
  const source = await readFile(program, 'utf8');
  await writeFile(program, source.replace('http://127.0.0.1:4400', address));
  const { stdout } = await run(process.execPath, [program], { env: variables });
  expect(stdout).toBe('succeeded 3\n');

  const [block] = blocksOf(PAGE, 'sh');
  const text = (block?.text ?? 'false')
    .replaceAll('npx longshore', `"${process.execPath}" "${BIN}"`)
    .replaceAll('127.0.0.1:4400', new URL(address).host);
  const shell = await run('sh', ['-ec', text], { env: variables, cwd: folder });
  const [first = '', counts, callback = ''] = shell.stdout.split('\n');
  expect(first).toMatch(/^\S+ {2}succeeded {2}december$/);
  expect(counts).toBe('1 job: 0 pending, 1 succeeded, 0 failed, 0 cancelled');
  const report = await jobInState(address, callback.split(/\s+/)[1] ?? '', 'succeeded');
  expect(report.result).toEqual({ batch: 'succeeded' });
  expect(shell.stdout).toMatch(/succeeded +3 +0 +0 +\S+ +november/);
  const params = { server: address, to: ['ada', 'bob'] };
  const campaign = { definitionKey: 'newsletter.campaign', params };
  const { jobId } = (await post(`${address}/v1/jobs`, campaign)).body as { jobId: string };
  const { result } = await jobInState(address, jobId, 'succeeded');
  const made = await ended(address, (result as { batch: string }).batch);
  expect(made).toMatchObject({ status: 'succeeded', total: 2 });

  const last = JSON.parse(shell.stdout.trim().split('\n').at(-1) ?? '') as BatchView;
  expect(await ended(address, last.id)).toMatchObject({ name: 'january', status: 'succeeded' });
});

it('runs its callbacks once, over a killed server', async () => {
  const first = await launch('start', { env: env() });
  const file = join(folder, 'go');
  const { body } = await post(`${first.summary.address}/v1/batches`, {
    jobs: [
      { definitionKey: 'newsletter.mail', params: { to: 'ada' } },
      { definitionKey: 'slow', params: { file } },
    ],
    onComplete: { definitionKey: 'newsletter.report' },
    onSuccess: { definitionKey: 'newsletter.report' },
  });
  const { id, onComplete, onSuccess } = body as BatchView;
  const jobs = await fetch(`${first.summary.address}/v1/batches/${id}/jobs`);
  const slow = ((await jobs.json()) as { jobs: { jobId: string }[] }).jobs[1]?.jobId ?? '';
  await jobInState(first.summary.address, slow, 'running');
  await killWhole(first);
  await writeFile(file, '');

  const { address } = (await launch('start', { env: env() })).summary;
  expect(await ended(address, id)).toMatchObject({ status: 'succeeded', succeeded: 2 });
  for (const callback of [onComplete, onSuccess]) {
    expect(await jobInState(address, callback ?? '', 'succeeded')).toMatchObject({ attempts: 1 });
  }
  const rows = await database().sql<{ jobs: number }>(
    `select count(*)::int as jobs from longshore.edge where on_id = '${id}' and kind = 'after'`,
  );
  expect(rows).toEqual([{ jobs: 2 }]);
});

it('is made, filled, closed, retried and cancelled by commands', async () => {
  const { address } = (await launch('start', { env: env() })).summary;
  const variables = { PATH: process.env['PATH'], LONGSHORE_URL: address };
  const batch = async (...args: string[]) => {
    const command = [BIN, 'batch', ...args];
    return (await run(process.execPath, command, { env: variables, cwd: folder })).stdout;
  };
  const file = join(folder, 'needed');
  const line = { definitionKey: 'needs-file', params: { file } };
  await writeFile(join(folder, 'more.jsonl'), `${JSON.stringify(line)}\n`.repeat(2));
  await writeFile(join(folder, 'none.jsonl'), '');
  const made = JSON.parse(await batch('create', 'none.jsonl', '--open', '--json')) as BatchView;
  expect(made).toMatchObject({ status: 'open', total: 0 });
  const short = made.id.slice(-12);
  expect(await batch('add', short, 'more.jsonl')).toContain(`${made.id}  open\n2 jobs: `);
  expect(await batch('close', short)).toContain('2 jobs: ');
  await ended(address, made.id);
  expect(await batch('show', short)).toBe(
    `${made.id}  failed\n2 jobs: 0 pending, 0 succeeded, 2 failed, 0 cancelled\n`,
  );
  const jobs = (await batch('jobs', short, '--state', 'failed')).trim().split('\n');
  expect(jobs).toHaveLength(3);
  expect(jobs[2]).toMatch(/^1 +\S+ +failed +needs-file$/);
  await writeFile(file, '');
  await batch('retry', short);
  expect(await ended(address, made.id)).toMatchObject({ status: 'succeeded', succeeded: 2 });

  const open = JSON.parse(await batch('create', 'none.jsonl', '--open', '--json')) as BatchView;
  expect(await batch('cancel', open.id)).toContain(`${open.id}  cancelled`);
});
