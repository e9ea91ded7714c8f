import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { jobInState, startJob } from '../../support/api.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { BIN, killWhole, launch } from '../../support/processes.ts';
import { pageProject, SLOW_JOB } from '../../support/page-project.ts';

/** The example of docs/guides/dependencies.md, over a server that is killed while parents run. */

const run = promisify(execFile);
const PAGE = 'docs/guides/dependencies.md';

const { folder, env } = pageProject(PAGE, { 'jobs/slow.ts': SLOW_JOB }, 3_000);

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
  await killWhole(first);
  await writeFile(file, '');

  const { address } = (await launch('start', { env: env() })).summary;
  await jobInState(address, parent, 'succeeded');
  expect(await jobInState(address, child, 'succeeded')).toMatchObject({ attempts: 1 });
});
