import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packFolder } from '../../../src/artifacts/pack.ts';
import { Longshore } from '../../../src/client/index.ts';
import { blocksOf, commandsIn } from '../../support/checks/docs-blocks.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { endAll, FIXTURES, launch, run } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

/** Secrets, from the command line to jobs in several languages, on servers and workers of their own. */

let folder: string;
let database: TestDatabase;
beforeEach(async () => {
  // Inside the checkout, so that `longshore` resolves as it does for a user.
  await mkdir('tmp', { recursive: true });
  folder = await mkdtemp(resolve('tmp', 'job-secrets-'));
  database = await testDatabase();
});
afterEach(async () => {
  await endAll();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const serverEnv = () => ({
  DATABASE_URL: database.url,
  LONGSHORE_ENCRYPTION_KEYS: `2026:${randomBytes(32).toString('base64')}`,
  LONGSHORE_ARTIFACTS: join(folder, 'artifacts'),
  LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
});
const reversed = (text: string) => text.split('').reverse().join('');

async function everythingOf(client: Longshore, jobId: string): Promise<string> {
  const lines: string[] = [];
  for await (const { message } of client.logs(jobId)) lines.push(message);
  return `${JSON.stringify(await client.get(jobId))}\n${lines.join('\n')}`;
}

it('the commands and jobs of docs/secrets.md work, and their output is masked', async () => {
  const jobs = join(folder, 'jobs');
  await mkdir(jobs);
  const [invoice] = blocksOf('docs/secrets.md', 'ts');
  const [program] = blocksOf('docs/secrets.md', 'python');
  await writeFile(join(jobs, 'invoice.ts'), invoice?.text ?? '');
  await writeFile(join(folder, 'other-token.txt'), 'token-of-invoice\n');
  const { address } = (await launch('start', { env: { ...serverEnv(), LONGSHORE_JOBS: jobs } }))
    .summary;
  const env = { LONGSHORE_URL: address };
  const client = new Longshore({ url: address });

  // The program is deployed code.
  const source = join(folder, 'program');
  await mkdir(source);
  await writeFile(join(source, 'program.py'), program?.text ?? '');
  await packFolder(source, join(folder, 'program.tar.gz'));
  const { artifactId } = await client.deployments.upload(
    await openAsBlob(join(folder, 'program.tar.gz')),
  );
  await client.deployments.define({
    key: 'program',
    artifactId,
    entrypoint: ['python3', 'program.py'],
  });

  const [, using] = blocksOf('docs/secrets.md', 'sh');
  const commands = commandsIn(using ?? { page: '', language: '', text: '', file: null });
  expect(commands).toHaveLength(4);
  const [set, setOwn, list, remove] = commands.map(({ args }) => args);
  // A shell would open the file behind `<`.
  const general = await run(set ?? [], { env, stdin: 'general-token\n' });
  expect(general).toMatchObject({ code: 0, stdout: 'BILLING_TOKEN\n', stderr: '' });
  expect((await run(setOwn ?? [], { env, cwd: folder })).code).toBe(0);
  const listed = await run(list ?? [], { env });
  expect(listed.stdout).toMatch(/BILLING_TOKEN +\* .*\nBILLING_TOKEN +invoice /);

  const own = await client.enqueue('invoice', { order: 7 });
  expect(await own.result()).toEqual({ order: 7, length: 'token-of-invoice'.length });
  expect(await everythingOf(client, own.id)).toContain('order 7 with [redacted] or [redacted]');
  const python = await client.enqueue('program', {});
  await python.result();
  expect(await everythingOf(client, python.id)).toContain('token [redacted]');

  expect((await run(remove ?? [], { env })).code).toBe(0);
  const length = 'general-token'.length;
  await until('the general one is used', async () => {
    const handle = await client.enqueue('invoice', { order: 8 });
    return ((await handle.result()) as { length: number }).length === length;
  });
  const audited = JSON.stringify((await client.audit({ subject: 'BILLING_TOKEN' })).entries);
  expect(audited).toContain('secret.delete');
  expect(audited).not.toMatch(/general-token|token-of-invoice/);
});

it('a remote worker gets those of its tenant, and another tenant sees none of them', async () => {
  const env = serverEnv();
  const made = await run(['keys', 'create', '--scope', 'admin', '--quiet'], { env });
  const apiKey = made.stdout.trim();
  const { address } = (
    await launch('start', { env: { ...env, LONGSHORE_JOBS: join(FIXTURES, 'secrets') } })
  ).summary;
  const admin = new Longshore({ url: address, apiKey });
  await admin.tenants.create('acme');
  const acme = new Longshore({ url: address, apiKey, tenant: 'acme' });
  const at = { LONGSHORE_URL: address, LONGSHORE_API_KEY: apiKey };
  const set = ['secrets', 'set', 'TOKEN'];
  await run(set, { env: { ...at, LONGSHORE_TENANT: 'acme' }, stdin: 'token-of-acme' });
  expect(await acme.secrets.list()).toMatchObject([{ name: 'TOKEN', definitionKey: null }]);
  expect(await admin.secrets.list()).toEqual([]);

  const tell = async (client: Longshore, key: string) =>
    (await (await client.enqueue(key, {})).result()) as { inEnvironment: string | null };
  for (const key of ['tell.process', 'tell.shell', 'tell.process']) {
    expect((await tell(acme, key)).inEnvironment).toBe(reversed('token-of-acme'));
    expect((await tell(admin, key)).inEnvironment ?? '').toBe('');
  }

  // Now acme has a worker of its own, and the server has none.
  const key = await acme.keys.create({ name: 'edge', scopes: ['worker'] });
  await endAll();
  const { address: api } = (await launch('api', { env })).summary;
  const edge = new Longshore({ url: api, apiKey, tenant: 'acme' });
  await launch('worker', {
    env: {
      LONGSHORE_URL: api,
      LONGSHORE_API_KEY: key.key,
      LONGSHORE_JOBS: join(FIXTURES, 'secrets'),
    },
  });
  const remote = await edge.enqueue('tell.process', {});
  expect(await remote.result()).toMatchObject({
    plain: '[redacted]',
    inEnvironment: reversed('token-of-acme'),
  });
  const said = await everythingOf(edge, remote.id);
  expect(said).toContain('stdout [redacted]');
  expect(said).not.toContain('token-of-acme');
});
