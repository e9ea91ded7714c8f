import { mkdir, rm, writeFile } from 'node:fs/promises';
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packFolder } from '../../../src/artifacts/pack.ts';
import { Longshore } from '../../../src/client/index.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { endAll, launch } from '../../support/processes.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { until } from '../../support/until.ts';

let folder: string;
let database: TestDatabase;
let url: string;

/** Packs files into a tar.gz. */
async function archiveOf(files: Record<string, string>): Promise<Blob> {
  const source = join(folder, `source-${Math.random()}`);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(source, name, '..'), { recursive: true });
    await writeFile(join(source, name), content);
  }
  await packFolder(source, `${source}.tar.gz`);
  return await openAsBlob(`${source}.tar.gz`);
}

const saying = (words: string) => ({
  'main.js': `export const run = (params) => ({ says: '${words}', params });`,
});

describe('deployed code', () => {
  beforeEach(async () => {
    folder = await quickFolder('longshore-deployed-');
    database = await testDatabase();
  });

  afterEach(async () => {
    await endAll();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (more: Record<string, string> = {}) => {
    const env = {
      ...more,
      DATABASE_URL: database.url,
      LONGSHORE_ARTIFACTS: join(folder, 'artifacts'),
      LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
      LONGSHORE_DEPLOYMENTS: 'only',
    };
    ({ address: url } = (await launch('start', { env })).summary);
    return new Longshore({ url });
  };

  it('runs as the source document has it: artifact_id, entrypoint main:run, schedule_cron', async () => {
    const client = await start();
    const early = await client.enqueue('customer_sync', { early: true });
    const { artifactId } = await client.deployments.upload(await archiveOf(saying('one')));
    const made = await client.deployments.define({
      key: 'customer_sync',
      artifactId,
      entrypoint: 'main:run',
      cron: '0 2 * * *',
      params: { all: true },
    });
    expect(made).toMatchObject({ number: 1, status: 'current', definitions: ['customer_sync'] });
    const { schedules } = await client.schedules.list();
    expect(schedules).toMatchObject([{ definitionKey: 'customer_sync', cron: '0 2 * * *' }]);
    expect(await early.result()).toEqual({ says: 'one', params: { early: true } });
    const job = await client.enqueue('customer_sync', { all: false });
    expect(await job.result()).toEqual({ says: 'one', params: { all: false } });
    const scheduled = await client.schedules.trigger(schedules[0]?.id ?? '');
    expect(await client.handle(scheduled.jobId).result()).toEqual({
      says: 'one',
      params: { all: true },
    });
  });

  it('gives new jobs the released version; queued and retried jobs keep theirs', async () => {
    const client = await start();
    const deploy = async (files: Record<string, string>) => {
      const { artifactId } = await client.deployments.upload(await archiveOf(files));
      const entrypoint = 'main:run';
      return await client.deployments.define({
        key: 'talk',
        artifactId,
        entrypoint,
        maxAttempts: 2,
      });
    };
    const said = async () => {
      const { id } = await client.enqueue('talk', {});
      const job = await until('it ended', async () => {
        const found = await client.get(id);
        return ['succeeded', 'failed'].includes(found.status) ? found : null;
      });
      return [job.definitionVersion, (job.result as { says?: string } | null)?.says ?? job.status];
    };
    await deploy(saying('one'));
    expect(await said()).toEqual([1, 'one']);
    const { changes } = await deploy(saying('two'));
    expect(changes).toEqual([{ key: 'talk', change: 'unchanged', fields: [] }]);
    await until('new jobs get it', async () => (await said())[1] === 'two');

    const bad = `export const run = () => { throw new Error('broken') };`;
    await deploy({ 'main.js': bad });
    await until('new jobs fail', async () => (await said())[1] === 'failed');
    const { jobs } = await client.list({ status: 'failed', definitionKey: 'talk' });
    const [back] = await client.deployments.rollback({ reason: 'it throws' });
    expect(back).toMatchObject({ number: 2, status: 'current', currentFor: ['talk'] });
    await until('new jobs are fine', async () => (await said())[1] === 'two');

    // A retry by hand runs the code that it was queued with.
    const [failed] = jobs;
    await client.retry(failed?.jobId ?? '');
    const again = await until('it failed again', async () => {
      const job = await client.get(failed?.jobId ?? '');
      return job.attempts > (failed?.attempts ?? 0) && job.status === 'failed' ? job : null;
    });
    expect(again.definitionVersion).toBe(3);
    await client.retry(failed?.jobId ?? '', { version: 'current' });
    const mended = await until('it succeeded', async () => {
      const job = await client.get(failed?.jobId ?? '');
      return job.status === 'succeeded' ? job : null;
    });
    expect(mended).toMatchObject({ definitionVersion: 2, result: { says: 'two' } });
    const audit = await client.audit({ action: 'deployment.rollback' });
    expect(audit.entries).toMatchObject([{ subject: '2', after: { reason: 'it throws' } }]);
  });

  it('gives scheduled and held jobs the version that is current when they become queued', async () => {
    const client = await start();
    const deploy = async (words: string) => {
      const { artifactId } = await client.deployments.upload(await archiveOf(saying(words)));
      await client.deployments.define({ key: 'talk', artifactId, entrypoint: 'main:run' });
    };
    await deploy('one');
    await until('it is served', async () => {
      const job = await client.enqueue('talk', {});
      return ((await job.result()) as { says: string }).says === 'one';
    });
    const held = await client.enqueue('talk', { n: 1 }, { hold: true });
    const pinned = await client.enqueue('talk', { n: 2 }, { hold: true, definitionVersion: 1 });
    const later = await client.enqueue('talk', { n: 3 }, { delayMs: 4_000 });
    expect((await client.get(later.id)).definitionVersion).toBe(0);
    await deploy('two');
    await client.release(held.id);
    await client.release(pinned.id);
    expect(await held.result()).toMatchObject({ says: 'two' });
    expect(await pinned.result()).toMatchObject({ says: 'one' });
    expect(await later.result()).toMatchObject({ says: 'two' });
    expect((await client.get(later.id)).definitionVersion).toBe(2);
  });

  it('is its own for each tenant that may deploy: others neither see nor run it', async () => {
    const open = await start({ LONGSHORE_TENANT_DEPLOYS: 'on' });
    const { key: admin } = await open.keys.create({ name: 'admin', scopes: ['admin'] });
    const operator = new Longshore({ url, apiKey: admin });
    const tenantClient = async (tenant: string) => {
      await operator.tenants.create(tenant);
      const acting = new Longshore({ url, apiKey: admin, tenant });
      const { key } = await acting.keys.create({ name: tenant, scopes: ['admin'] });
      return new Longshore({ url, apiKey: key });
    };
    const acme = await tenantClient('acme');
    const rival = await tenantClient('rival');
    for (const [client, words] of [
      [acme, 'of acme'],
      [rival, 'of rival'],
    ] as const) {
      const { artifactId } = await client.deployments.upload(await archiveOf(saying(words)));
      const entrypoint = 'main:run';
      await client.deployments.define({ key: 'talk', artifactId, entrypoint });
      const limited = { key: 'talk', artifactId, entrypoint, concurrencyLimit: 1 };
      await expect(client.deployments.define(limited)).rejects.toThrow('no limits of their own');
      const inside = { key: 'talk', artifactId, entrypoint, isolation: 'inline' };
      await expect(client.deployments.define(inside)).rejects.toThrow("needs isolation 'process'");
    }
    expect(await (await acme.enqueue('talk', {})).result()).toMatchObject({ says: 'of acme' });
    expect(await (await rival.enqueue('talk', {})).result()).toMatchObject({ says: 'of rival' });
    const [own] = await rival.deployments.list();
    expect(await rival.deployments.list()).toHaveLength(1);
    const keys = async (client: Longshore) =>
      (await client.definitions()).map((one) => [one.key, one.version]);
    expect(await keys(rival)).toEqual([['talk', own?.number]]);
    expect(await keys(operator)).toEqual([]);

    // The code of another tenant is not reached by its version.
    const theirs = await acme.enqueue('talk', {}, { definitionVersion: own?.number });
    const shared = await operator.enqueue('talk', {});
    await (await rival.enqueue('talk', {})).result();
    expect((await acme.get(theirs.id)).status).toBe('queued');
    expect((await operator.get(shared.id)).status).toBe('queued');
    await expect(acme.deployments.get(own?.number ?? 0)).rejects.toThrow('not found');
    await expect(acme.deployments.promote(own?.number ?? 0)).rejects.toThrow('not found');
  });
});
