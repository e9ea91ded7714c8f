import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packFolder } from '../../../src/artifacts/pack.ts';
import { Longshore } from '../../../src/client/index.ts';
import { blocksOf, commandsIn } from '../../support/checks/docs-blocks.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { endAll, launch, run } from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { until } from '../../support/until.ts';

let folder: string;
let database: TestDatabase;

beforeEach(async () => {
  folder = await quickFolder('longshore-walk-');
  database = await testDatabase();
});

afterEach(async () => {
  await endAll();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

function never(): never {
  throw new Error('the page lacks this block');
}

const job = (body: string, more = '') =>
  `import { defineJob } from 'longshore';
   import { shout } from './lib/shout.ts';
   export default defineJob({ key: 'greet', ${more} run: (params: { name: string }) => { ${body} } });`;

it('from an empty folder: deploy, run, a bad deploy, and back', async () => {
  const jobs = join(folder, 'jobs');
  await mkdir(join(jobs, 'lib'), { recursive: true });
  await writeFile(join(jobs, 'lib/shout.ts'), 'export const shout = (s: string) => `${s}!`;');
  const write = async (text: string) => await writeFile(join(jobs, 'greet.ts'), text);
  const server = {
    DATABASE_URL: database.url,
    LONGSHORE_ARTIFACTS: join(folder, 'artifacts'),
    LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
  };
  const { address } = (await launch('api', { env: server })).summary;
  await launch('scheduler', { env: server });
  await launch('worker', { env: { ...server, LONGSHORE_DEPLOYMENTS: 'only' } });
  const env = { LONGSHORE_URL: address };
  const client = new Longshore({ url: address });
  const says = async () => {
    const { id } = await client.enqueue('greet', { name: 'Ada' });
    const ended = await until('it ended', async () => {
      const found = await client.get(id);
      return ['succeeded', 'failed'].includes(found.status) ? found : null;
    });
    return ended.result ?? ended.error?.message;
  };

  await write(job('return shout(params.name);'));
  const first = await run(['deploy', jobs, '--note', 'hello'], { env });
  expect(first.stderr).toContain('New jobs get deployment 1');
  expect(first.stdout).toBe('+ greet  new\n');
  expect(await says()).toBe('Ada!');

  await write(job(`throw new Error('oh no');`, 'maxAttempts: 1, timeoutSeconds: 9,'));
  const second = await run(['deploy', jobs], { env });
  expect(second.stdout).toBe('~ greet  maxAttempts, timeoutSeconds\n');
  await until('new jobs get it', async () => (await says()) === 'oh no');

  const back = await run(['deployments', 'rollback', '--reason', 'it throws'], { env });
  expect(back.stdout).toBe('1\n');
  await until('new jobs are fine', async () => (await says()) === 'Ada!');
  const { stdout } = await run(['deployments'], { env });
  expect(stdout).toMatch(/^2 +old .*\n1 +current .* hello$/m);

  // The same code again is the same artifact.
  await write(job('return shout(params.name);'));
  const again = await run(['deploy', jobs, '--no-promote', '--json'], { env });
  const made = JSON.parse(again.stdout) as { artifactId: string; number: number; status: string };
  expect(made).toMatchObject({ number: 3, status: 'old' });
  expect(made.artifactId).toBe((await client.deployments.get(1)).artifactId);
});

it('the commands, calls and the manifest of docs/deployments.md work', async () => {
  const jobs = join(folder, 'jobs');
  await mkdir(jobs);
  await writeFile(join(jobs, 'greet.ts'), job('return params.name;').replace(/.*shout.*\n/, ''));
  const [first, signing] = blocksOf('docs/deployments.md', 'sh').filter(({ text }) =>
    text.includes('longshore deploy'),
  );
  const key = join(folder, 'deploy.pem');
  const [create, sign] = commandsIn(signing ?? first ?? never()).map(({ args }) =>
    args.map((word) => word.replace('./jobs', jobs).replace('deploy.pem', key)),
  );
  const made = await run(create ?? [], {});
  const server = {
    DATABASE_URL: database.url,
    LONGSHORE_ARTIFACTS: join(folder, 'artifacts'),
    LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
  };
  const { address } = (await launch('start', { env: { ...server, LONGSHORE_DEPLOYMENTS: 'only' } }))
    .summary;
  const env = { LONGSHORE_URL: address };
  const client = new Longshore({ url: address });
  const [, deploy] = commandsIn(first ?? never());
  const plain = await run(deploy?.args.map((word) => word.replace('./jobs', jobs)) ?? [], { env });
  expect(plain.stderr).toContain('New jobs get deployment 1');
  expect((await run(sign ?? [], { env })).code).toBe(0);

  // An archive without a manifest, by curl.
  const source = join(folder, 'sync');
  await mkdir(source);
  await writeFile(join(source, 'main.js'), 'export const run = () => "synced";');
  await packFolder(source, join(folder, 'sync.tar.gz'));
  const [curl] = blocksOf('docs/deployments.md', 'sh').filter(({ text }) => text.includes('curl'));
  const [upload = '', define = ''] = (curl?.text ?? '').split(/^(?=curl)/m);
  const call = async (command: string) => {
    const here = command.replace('http://127.0.0.1:4400', address);
    const { stdout } = await promisify(execFile)('bash', ['-c', here], { cwd: folder });
    return JSON.parse(stdout) as { artifactId: string; number: number };
  };
  const { artifactId } = await call(upload);
  await call(define.replace('9f86d081…', artifactId));
  expect(await (await client.enqueue('customer_sync', {})).result()).toBe('synced');

  // An archive with the manifest of the page.
  const [manifest] = blocksOf('docs/deployments.md', 'json');
  await writeFile(join(source, 'longshore.json'), manifest?.text ?? '');
  await writeFile(
    join(source, 'export.py'),
    'import os\nos.write(3, b\'{"result":"exported"}\\n\')\n',
  );
  await packFolder(source, join(folder, 'both.tar.gz'));
  const both = await run(['deploy', join(folder, 'both.tar.gz')], { env });
  expect(both.stdout).toContain('+ export  new');
  await until('the program runs', async () => {
    const handle = await client.enqueue('export', {});
    return (await handle.result()) === 'exported';
  });

  // A server that wants signatures takes only what is signed by its keys.
  const strict = { ...server, LONGSHORE_ARTIFACT_KEYS: made.stdout.trim() };
  const other = { LONGSHORE_URL: (await launch('api', { env: strict })).summary.address };
  const unsigned = await run(['deploy', jobs], { env: other });
  expect(unsigned.stderr).toContain('is not signed');
  expect((await run(sign ?? [], { env: other })).code).toBe(0);
});

it('refuses a definition that cannot be bundled, and says where', async () => {
  await writeFile(join(folder, 'broken.ts'), 'export const x = ;');
  const broken = await run(['deploy', folder], { env: { LONGSHORE_URL: 'http://127.0.0.1:9' } });
  expect(broken.code).not.toBe(0);
  expect(broken.stderr).toContain('broken.ts');
});
