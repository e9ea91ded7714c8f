import { openAsBlob } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packFolder } from '../../../src/artifacts/pack.ts';
import { Longshore } from '../../../src/client/index.ts';
import { endAll, launch, run } from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

let folder: string;
let database: TestDatabase;

beforeEach(async () => {
  folder = await quickFolder('longshore-remote-code-');
  database = await testDatabase();
});

afterEach(async () => {
  await endAll();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

async function deploy(client: Longshore, words: string): Promise<void> {
  const source = join(folder, words);
  await mkdir(source);
  const code = `export const run = (params) => ({ says: '${words}', params });`;
  await writeFile(join(source, 'main.js'), code);
  await packFolder(source, `${source}.tar.gz`);
  const { artifactId } = await client.deployments.upload(await openAsBlob(`${source}.tar.gz`));
  await client.deployments.define({ key: 'talk', artifactId, entrypoint: 'main:run' });
}

it('a worker over HTTP, which starts with nothing, runs what is deployed and redeployed', async () => {
  const env = { DATABASE_URL: database.url, LONGSHORE_ARTIFACTS: join(folder, 'artifacts') };
  const keyFor = async (...scope: string[]) =>
    (await run(['keys', 'create', ...scope, '--quiet'], { env })).stdout.trim();
  const apiKey = await keyFor('--scope', 'admin');
  const { address: url } = (await launch('api', { env })).summary;
  const client = new Longshore({ url, apiKey });
  await client.tenants.create('acme');
  const workerKey = await keyFor('--tenant', 'acme', '--scope', 'worker');
  const { pid, summary } = await launch('worker', {
    env: {
      LONGSHORE_URL: url,
      LONGSHORE_API_KEY: workerKey,
      LONGSHORE_DEPLOYMENTS: 'only',
      LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
    },
    cwd: folder,
  });
  expect(summary).toMatchObject({ definitions: [] });

  const userKey = await keyFor('--tenant', 'acme', '--scope', 'jobs:read', '--scope', 'jobs:write');
  const user = new Longshore({ url, apiKey: userKey });
  const said = async () => await (await user.enqueue('talk', { a: 1 })).result();
  await deploy(client, 'one');
  expect(await said()).toEqual({ says: 'one', params: { a: 1 } });
  await deploy(client, 'two');
  await until('new jobs run the new code', async () => {
    return ((await said()) as { says: string }).says === 'two';
  });
  expect(await client.workers()).toMatchObject([{ pid }]);
});
