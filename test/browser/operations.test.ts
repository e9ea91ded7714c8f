import { describe, expect, it, onTestFinished } from 'vitest';
import { jobInState, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';
import { startReceiver, status } from '../support/servers/receiver.ts';

const { shop, open, forgiveComplaints } = dashboardPages();

describe('webhooks', () => {
  it('are made, tested, looked at, sent again, paused and deleted', async () => {
    const receiver = await startReceiver();
    onTestFinished(receiver.close);
    const page = await open('/webhooks');
    await page.getByText('No webhooks yet.').waitFor();
    await page.getByRole('button', { name: 'Add webhook…' }).click();
    await page.getByLabel('URL').fill('http://10.0.0.1/hooks');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByText(/private|not allowed|address/i)
      .last()
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('Description').fill(HOSTILE);
    await page.getByLabel('job.succeeded').check();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const secret = await page
      .getByRole('dialog', { name: 'Webhook secret' })
      .locator('code')
      .innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText(HOSTILE).waitFor();
    await page.getByRole('link', { name: receiver.url }).click();

    receiver.answerWith(status(500, { 'content-type': 'text/plain' }, HOSTILE));
    await page.getByRole('button', { name: 'Send test' }).click();
    const delivery = page.getByRole('listitem').filter({ hasText: 'webhook.test' }).first();
    await delivery.getByText('failed').waitFor();
    await delivery.locator('summary').first().click();
    await delivery.getByText(/^Attempt 1: status 500/).waitFor();
    await delivery.getByText(HOSTILE).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    receiver.answerWith(status(204));
    await delivery.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('delivered').first().waitFor();

    const params = { url: 'hook.png', width: 1 };
    const id = await startJob(shop.address, 'image.resize', params);
    await jobInState(shop.address, id, 'succeeded');
    await page.getByText('job.succeeded', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Webhook paused.').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Webhook resumed.').waitFor();
    await page.getByRole('button', { name: 'Rotate secret…' }).click();
    await page.getByRole('button', { name: 'Create new secret' }).click();
    const next = page.getByRole('dialog', { name: 'New webhook secret' }).locator('code');
    expect(await next.innerText()).not.toBe(secret);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks yet.').waitFor();
    forgiveComplaints();
  });
});

describe('the audit log', () => {
  it('says who did what to what, and leads there', async () => {
    const params = { url: 'audited.png', width: 1 };
    const id = await startJob(shop.address, 'image.resize', params, { hold: true });
    await fetch(`${shop.address}/v1/jobs/${id}/cancel`, { method: 'POST' });
    const page = await open('/audit');
    const row = page.getByRole('row').filter({ hasText: id.slice(0, 13) });
    await row.getByText('job.cancel').waitFor();
    await row.getByText('127.0.0.1').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await row.getByRole('link', { name: 'job.cancel' }).click();
    await page.waitForURL(/action=job.cancel/);
    await page.getByLabel('Actor', { exact: true }).fill('key:nobody');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('No matching audit entries.').waitFor();
    await page.goBack();
    await row.getByRole('link', { name: id.slice(0, 13) }).click();
    await page
      .getByText(/^Cancelled before it ran|^Cancelled/)
      .first()
      .waitFor();
  });
});

it('an open server says so in its settings', async () => {
  const page = await open('/settings');
  await page.getByText(/^Not signed in: this server has no keys/).waitFor();
  await page.getByText('No keys yet.').waitFor();
  const kept = page.getByRole('row').filter({ hasText: 'LONGSHORE_RETENTION_DAYS' });
  await kept.getByRole('cell', { name: '7', exact: true }).waitFor();
  expect(await page.getByText('DATABASE_URL').count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
});

describe('throughput', () => {
  it('is drawn by outcome, and told as numbers', async () => {
    const params = { url: 'throughput.png', width: 1 };
    await jobInState(
      shop.address,
      await startJob(shop.address, 'image.resize', params),
      'succeeded',
    );
    const page = await open('/');
    await page.getByRole('img', { name: /^In the last 60 minutes: [1-9]/ }).waitFor();
    await page.locator('.chart canvas').waitFor();
    await page.getByText('New definitions:').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show table' }).click();
    await page.getByRole('table', { name: /by minute/ }).waitFor();
    await page.goto(`${shop.address}/ui/definitions/image.resize`);
    await page.getByRole('heading', { name: 'Rates' }).waitFor();
    await page
      .getByText(/^< \d+ ms \/ |–.* \/ /)
      .first()
      .waitFor();
  });
});

describe('alerts', () => {
  it('have rules that can be changed', async () => {
    const page = await open('/alerts');
    const row = page.getByRole('row').filter({ hasText: 'dead-letters' }).last();
    await row.getByRole('button', { name: 'Change…' }).click();
    await page.getByLabel('Threshold (jobs)').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByRole('dialog')
      .getByText(/must be a whole number/)
      .waitFor();
    await page.getByLabel('Threshold (jobs)').fill('1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Rule saved.').waitFor();
    await row.getByText('1 job', { exact: true }).waitFor();
    await row.getByText('API', { exact: true }).waitFor();
    await page.getByText('firing').first().waitFor();
    await page.getByText('team-billing').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    forgiveComplaints();
  });
});
