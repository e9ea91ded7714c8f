import { openAsBlob } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packFolder } from '../../../src/artifacts/pack.ts';
import { Longshore } from '../../../src/client/index.ts';
import { descendants, endAll, launch, type Running } from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

const MADE = 100;
const KEPT = 20;
const SLOTS = 2;
/** A worker, its watchdog, two loads, a process for each slot and a few spares. */
const PROCESSES_MAX = 14;

let folder: string;
let database: TestDatabase;

beforeEach(async () => {
  folder = await quickFolder('longshore-hundred-');
  database = await testDatabase();
});

afterEach(async () => {
  await endAll();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const start = async () =>
  await launch('start', {
    env: {
      DATABASE_URL: database.url,
      LONGSHORE_ARTIFACTS: join(folder, 'artifacts'),
      LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
      LONGSHORE_DEPLOYMENTS: 'only',
      LONGSHORE_CONCURRENCY: `${SLOTS}`,
      TMPDIR: folder,
    },
  });

async function deploy(client: Longshore, n: number): Promise<void> {
  const source = join(folder, `source-${n}`);
  await mkdir(source);
  const definitions = [{ key: 'count', entrypoint: 'main:run' }];
  const manifest = { longshore: 1, runtime: 'node', definitions };
  await writeFile(join(source, 'longshore.json'), JSON.stringify(manifest));
  await writeFile(join(source, 'main.js'), `export const run = () => ${n};`);
  await packFolder(source, `${source}.tar.gz`);
  const { artifactId } = await client.deployments.upload(await openAsBlob(`${source}.tar.gz`));
  expect(await client.deployments.create(artifactId)).toMatchObject({ number: n });
}

const inUse = async () =>
  await database.sql(`select number from longshore.deployment where retired_at is null`);

const stop = async ({ signal, exited }: Running) => {
  signal('SIGTERM');
  await exited;
};

/** What a folder of the cache holds. */
const cached = async (name: string) => await readdir(join(folder, 'cache', name));

it('a hundred deployments leave no process, and on the disk only what is kept', async () => {
  let server = await start();
  const client = new Longshore({ url: server.summary.address });
  let most = 0;
  for (let n = 1; n <= MADE; n += 1) {
    await deploy(client, n);
    most = Math.max(most, descendants(server.pid).length);
    if (n % 20 !== 0) continue;
    const pinned = await client.enqueue('count', {}, { definitionVersion: n - 5 });
    const current = await client.enqueue('count', {}, { definitionVersion: n });
    expect(await Promise.all([pinned.result(), current.result()])).toEqual([n - 5, n]);
  }
  expect(most).toBeLessThanOrEqual(PROCESSES_MAX);
  expect(await inUse()).toHaveLength(MADE);
  await stop(server);
  // A process that ends in good order marks nothing as used.
  expect(await cached('uses')).toEqual([]);
  expect(await cached('owners')).toEqual([]);
  expect(await cached('locks')).toEqual([]);

  // A server collects when it starts, and every ten minutes.
  server = await start();
  await until('old deployments are retired', async () => (await inUse()).length === KEPT);
  expect(await readdir(join(folder, 'artifacts'))).toHaveLength(MADE);
  await stop(server);
  await database.sql(`update longshore.deployment set retired_at = retired_at - interval '2 days'`);
  await database.sql(`update longshore.artifact set created_at = created_at - interval '3 days'`);
  server = await start();
  const stored = async () => await readdir(join(folder, 'artifacts'));
  await until('their archives are deleted', async () => (await stored()).length === KEPT);
  const again = new Longshore({ url: server.summary.address });
  const [kept, latest] = [MADE - KEPT + 1, MADE];
  const jobs = [kept, latest].map(
    async (n) => await (await again.enqueue('count', {}, { definitionVersion: n })).result(),
  );
  expect(await Promise.all(jobs)).toEqual([kept, latest]);
  expect((await stored()).filter((name) => name.startsWith('.'))).toEqual([]);
  await stop(server);
  const mine = (name: string) => !/^(source-|artifacts$|cache$)/.test(name);
  expect((await readdir(folder)).filter(mine)).toEqual([]);
});
