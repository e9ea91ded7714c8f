import { openAsBlob } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packFolder } from '../../../src/artifacts/pack.ts';
import { Longshore } from '../../../src/client/index.ts';
import {
  ACCESS_KEY,
  BUCKET,
  SECRET_KEY,
  startS3Server,
  type S3Server,
} from '../../support/artifacts/s3-server.ts';
import { endAll, launch, run } from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

let folder: string;
let database: TestDatabase;
let s3: S3Server;

beforeEach(async () => {
  folder = await quickFolder('longshore-storage-');
  database = await testDatabase();
  s3 = await startS3Server();
});

afterEach(async () => {
  await endAll();
  await s3.stop();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

it('jobs wait while the storage fails, say why, use no attempt, and run when it is back', async () => {
  const env = {
    DATABASE_URL: database.url,
    LONGSHORE_ARTIFACTS: `s3://${BUCKET}/code?endpoint=${s3.endpoint}&region=us-east-1`,
    LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
    AWS_ACCESS_KEY_ID: ACCESS_KEY,
    AWS_SECRET_ACCESS_KEY: SECRET_KEY,
  };
  const { address: url } = (await launch('api', { env })).summary;
  const client = new Longshore({ url });
  const source = join(folder, 'source');
  await mkdir(source);
  await writeFile(join(source, 'main.js'), `export const run = () => 'from S3';`);
  await packFolder(source, `${source}.tar.gz`);
  const { artifactId } = await client.deployments.upload(await openAsBlob(`${source}.tar.gz`));
  await client.deployments.define({ key: 'fetch', artifactId, entrypoint: 'main:run' });

  s3.down = true;
  const job = await client.enqueue('fetch', {});
  const worker = await launch('worker', { env: { ...env, LONGSHORE_DEPLOYMENTS: 'only' } });
  const waiting = await until('the job says why it waits', async () => {
    const found = await client.get(job.id);
    return found.warnings.length > 0 ? found : null;
  });
  expect(waiting).toMatchObject({ status: 'queued', attempts: 0 });
  expect(waiting.warnings).toMatchObject([{ code: 'UNLOADABLE' }]);
  const why = /no worker can load deployment 1: the storage s3:\/\/artifacts\/code\/ fails: /;
  expect(waiting.warnings[0]?.detail).toMatch(why);
  const { stdout } = await run(['show', job.id], { env: { LONGSHORE_URL: url } });
  expect(stdout).toMatch(/UNLOADABLE \(no worker can load deployment 1: the storage/);
  expect(worker.stderr()).toContain('a deployment cannot be loaded; trying again');
  const asked = s3.requests.length;
  await until('the worker tries again', () => s3.requests.length > asked + 1);

  s3.down = false;
  expect(await job.result()).toBe('from S3');
  expect(await client.get(job.id)).toMatchObject({ attempts: 1, warnings: [] });
  const [problem] = await database.sql('select load_problem from longshore.deployment');
  expect(problem).toEqual({ load_problem: null });
});
