import { openAsBlob } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { packFolder } from '../../src/artifacts/pack.ts';
import { Longshore } from '../../src/client/index.ts';
import { post } from '../support/api.ts';
import { endAll, launch } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { until } from '../support/until.ts';
import { axeFindings, dashboardPages, phoneFindings } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';

const { open, forgiveComplaints } = dashboardPages();
const folder = await quickFolder('longshore-deployments-page-');

afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

/** An archive whose definition `talk` says these words. */
async function archiveOf(words: string): Promise<Blob> {
  const source = join(folder, words);
  await mkdir(source);
  await writeFile(join(source, 'main.js'), `export const run = () => ({ says: '${words}' });`);
  await packFolder(source, `${source}.tar.gz`);
  return await openAsBlob(`${source}.tar.gz`);
}

it('shows deployments, rolls back with a reason, and leads from a job to its code', async () => {
  const env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_ARTIFACT_CACHE: join(folder, 'cache'),
    LONGSHORE_DEPLOYMENTS: 'only',
    LONGSHORE_DRAIN_MS: '1000',
  };
  const { address } = (await launch('start', { env })).summary;
  const client = new Longshore({ url: address });
  const page = await open('/');
  await page.goto(`${address}/ui/`);
  await page.getByRole('link', { name: 'Deployments' }).click();
  await page.getByText('No deployments yet.').waitFor();
  await page.getByText('longshore deploy ./jobs').waitFor();
  expect(await axeFindings(page)).toEqual([]);

  const deploy = async (words: string, rules: object) => {
    const { artifactId } = await client.deployments.upload(await archiveOf(words));
    const definition = { key: 'talk', artifactId, entrypoint: 'main:run', ...rules };
    await client.deployments.define(definition);
    return artifactId;
  };
  const first = await deploy('one', {
    maxAttempts: 2,
    note: 'the first',
    revision: 'a'.repeat(40),
  });
  await deploy('two', { maxAttempts: 5, note: HOSTILE });
  const table = page.getByRole('table', { name: 'Deployments' });
  await table.getByRole('row').nth(2).waitFor();
  const row = (at: number) => table.getByRole('row').nth(at);
  await row(1).getByText('current', { exact: true }).waitFor();
  await row(1).getByText(HOSTILE).waitFor();
  await row(2).getByText('old', { exact: true }).waitFor();
  await row(2).getByText('a'.repeat(12), { exact: true }).waitFor();
  await row(2).getByText('the first').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await phoneFindings(page)).toEqual([]);

  await row(2).getByRole('link', { name: '1' }).click();
  await page.getByText('other rules: maxAttempts').waitFor();
  await page.getByText(first).waitFor();
  await page.getByRole('button', { name: 'Give to new jobs…' }).waitFor();
  expect(await page.getByRole('button', { name: 'Roll back…' }).count()).toBe(0);

  await page.goto(`${address}/ui/deployments/2`);
  await page.getByText('same rules').waitFor();
  await page.getByRole('button', { name: 'Roll back…' }).click();
  await page.getByText(/^New jobs of talk get deployment 1\./).waitFor();
  await page.getByLabel('Reason (shown to others)').fill('it says two');
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Roll back', exact: true }).click();
  await page.getByText('Rolled back: new jobs get deployment 1.').waitFor();
  await page.getByText('old', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Deployments' }).click();
  await row(2).getByText('current', { exact: true }).waitFor();
  await row(2).getByRole('link', { name: '1' }).click();
  await page.getByText('it says two').waitFor();
  await page.getByText('same rules').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await phoneFindings(page)).toEqual([]);

  const id = await until('new jobs get it', async () => {
    const job = await client.enqueue('talk', {});
    return (await client.get(job.id)).definitionVersion === 1 ? job.id : null;
  });
  await until('it is counted', async () => {
    const [talk] = (await client.deployments.get(1)).jobs;
    return talk?.now.failureRate === 0;
  });
  await page.goto(`${address}/ui/jobs/${id}`);
  await page.getByRole('link', { name: 'Deployment 1' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deployment 1' }).waitFor();
  const versions = page.getByRole('table', { name: 'Jobs by version' });
  await versions.getByText('2 (before)').waitFor();
  await versions.getByText('0 %').first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await phoneFindings(page)).toEqual([]);
  const later = await client.enqueue('talk', {}, { delayMs: 3_600_000 });
  await page.goto(`${address}/ui/jobs/${later.id}`);
  await page.getByText('decided when it is due').waitFor();

  // A schema that the scheduled job does not fit; compared with another one, a canary, its end.
  const { artifactId: third } = await client.deployments.upload(await archiveOf('three'));
  const strict = {
    type: 'object',
    required: ['who'],
    properties: { who: { type: 'string' } },
  };
  const entrypoint = 'main:run';
  const define = { key: 'talk', artifactId: third, entrypoint, schema: strict };
  const made = await client.deployments.define(define);
  expect(made.schemaChecks).toMatchObject([{ key: 'talk', jobsChecked: 1, jobsRejected: 1 }]);
  await client.deployments.rollback();
  await page.goto(`${address}/ui/deployments/3`);
  await page.getByText('talk: the new schema would reject 1 of 1 waiting jobs.').waitFor();
  await page.getByText('params/who: is required').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await phoneFindings(page)).toEqual([]);
  await page.getByLabel('compared with').selectOption('2');
  await page.getByText('other rules: maxAttempts, params').waitFor();
  await page.getByRole('button', { name: 'Start a canary…' }).click();
  await page.getByLabel('Share of new jobs, in percent').fill('20');
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Start the canary' }).click();
  await page.getByText('20% of new jobs get deployment 3.').waitFor();
  await page.getByText('canary 20%').waitFor();
  await page.getByRole('button', { name: 'Roll back…' }).click();
  await page.getByText('The canary of deployment 3 ends. Nothing else changes.').waitFor();
  await page.getByRole('button', { name: 'Roll back', exact: true }).click();
  await page.getByText('old', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Retire…' }).click();
  await page.getByText('Workers stop serving it, and its waiting jobs wait.').waitFor();
  await page.getByRole('button', { name: 'Retire', exact: true }).click();
  await page.getByText('retired', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Retire…' }).count()).toBe(0);

  // What was released, by whom and why: at the definition, and on the chart.
  await page.goto(`${address}/ui/definitions/talk`);
  const releases = page.getByRole('table', { name: 'Releases' });
  await releases.getByText('rolled back to deployment 1').first().waitFor();
  await releases.getByText('it says two').waitFor();
  await releases.getByText('canary of deployment 3: 20%').waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.goto(`${address}/ui/`);
  await page.getByText('New code:').waitFor();
  await page.getByText(/of deployment 3 ended/).waitFor();

  const cancelled = await client.enqueue('talk', {}, { definitionVersion: 2, hold: true });
  await client.cancel(cancelled.id);
  await page.goto(`${address}/ui/jobs/${cancelled.id}`);
  await page.getByRole('button', { name: 'Retry with changes…' }).click();
  await page.getByLabel('With the code that new jobs get now, not with deployment 2').check();
  expect(await axeFindings(page)).toEqual([]);
  const dialog = page.getByRole('dialog', { name: 'Retry this job' });
  await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
  await until('it ran', async () => (await client.get(cancelled.id)).status === 'succeeded');
  await page.getByRole('link', { name: 'Deployment 1' }).waitFor();
  const attempts = page.getByRole('table', { name: 'Attempts, oldest first' });
  await attempts.getByRole('row').nth(1).waitFor();

  const admin = await post(`${address}/v1/keys`, { name: 'ada', scopes: ['admin'] });
  const keys = new Longshore({ url: address, apiKey: (admin.body as { key: string }).key }).keys;
  const { key } = await keys.create({ name: 'bob', scopes: ['jobs:read'] });
  await page.goto(`${address}/ui/deployments/2`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deployment 2' }).waitFor();
  await page.getByText('other rules: maxAttempts').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(await page.getByRole('button', { name: 'Give to new jobs…' }).count()).toBe(0);
  forgiveComplaints();
});
