import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { FIXTURES, endAll, launch } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { until } from '../support/until.ts';

const { open } = dashboardPages();
const folder = await quickFolder('longshore-large-page-');

afterAll(async () => {
  await endAll();
  await rm(folder, { recursive: true, force: true });
});

it('large values are shown by their size, downloaded in full, and never taken for null', async () => {
  const env = {
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_ARTIFACTS: join(folder, 'values'),
    LONGSHORE_JOBS: join(FIXTURES, 'large'),
    LONGSHORE_LARGE_VALUES_MAX_BYTES: '4194304',
    LONGSHORE_DRAIN_MS: '1000',
  };
  const { address } = (await launch('start', { env })).summary;
  const client = new Longshore({ url: address });
  const params = { chars: 1_500_000, filler: 'ä'.repeat(100_000) };
  const large = await client.enqueue('produce', params);
  const other = await client.enqueue('produce', { ...params, filler: 'z'.repeat(200_000) });
  const broken = await client.enqueue('count', { filler: params.filler }, { maxAttempts: 1 });
  for (const job of [large, other]) await job.result();
  await expect(broken.result()).rejects.toThrow();

  const page = await open('/');
  await page.goto(`${address}/ui/jobs/${large.id}`);
  const panel = (title: string) => page.getByRole('region', { name: title, exact: true });
  await panel('Params').getByText('Too large to show here: 196 KiB of JSON.').waitFor();
  await panel('Result').getByText('Too large to show here: 1 MiB of JSON.').waitFor();
  // A new job would have other params.
  expect(await page.getByRole('button', { name: /^Copy as new job/ }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);

  const fileOf = async (title: string) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      panel(title).getByRole('link', { name: 'Download' }).click(),
    ]);
    const value: unknown = JSON.parse(await readFile(await file.path(), 'utf8'));
    return { name: file.suggestedFilename(), value };
  };
  expect(await fileOf('Params')).toEqual({ name: `job-${large.id}-params.json`, value: params });
  const result = { text: 'x'.repeat(params.chars) };
  expect(await fileOf('Result')).toEqual({ name: `job-${large.id}-result.json`, value: result });

  await page.goto(`${address}/ui/jobs`);
  await page.getByText('196 KiB of JSON').first().waitFor();

  await page.goto(`${address}/ui/compare?a=${large.id}&b=${other.id}`);
  await panel('Params').getByText('Too large to compare here.').waitFor();
  await panel('Result').getByText('Too large to compare here.').waitFor();
  expect(await page.getByText('The same in both.').count()).toBe(0);

  await page.goto(`${address}/ui/jobs/${broken.id}`);
  await page.getByRole('button', { name: 'Retry with changes…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retry this job' });
  await dialog.getByText('too large to be edited here. They stay as they are.').waitFor();
  await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
  await until('it has run again with its params', async () => {
    const { attempts, status, largeParams } = await broken.get();
    return attempts === 2 && status === 'failed' && largeParams !== undefined;
  });
});
