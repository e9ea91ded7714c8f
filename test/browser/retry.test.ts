import { expect, it } from 'vitest';
import { jobInState, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

const { shop, open, forgiveComplaints } = dashboardPages();

it('a failed job can be retried as it is, and with other params', async () => {
  const params = { invoiceId: 'INV-7', email: 'amy@down.example' };
  const id = await startJob(shop.address, 'billing.send-invoice', params);
  await jobInState(shop.address, id, 'failed');
  const page = await open(`/jobs/${id}`);
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByText(/^Failed on attempt 4 of 4: connect ECONNREFUSED/).waitFor();
  await page.getByRole('button', { name: 'Retry with changes…' }).click();
  await page.getByLabel(/from scratch/).check();
  const dialog = page.getByRole('dialog');
  const email = dialog.getByLabel('email');
  expect(await email.inputValue()).toBe('amy@down.example');
  await email.fill('no address');
  await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
  await dialog
    .locator('.field')
    .filter({ has: page.getByLabel('email') })
    .locator('.wrong')
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  forgiveComplaints();
  await dialog.getByRole('button', { name: 'Edit as JSON' }).click();
  const json = dialog.getByRole('textbox', { name: 'Params as JSON' });
  await json.fill('{');
  await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
  await dialog.getByText(/Invalid JSON: /).waitFor();
  await json.fill('{"invoiceId":"INV-7","email":"amy@up.example"}');
  await dialog.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByText(/^Succeeded on attempt 1/).waitFor();
  await page.getByText('"amy@up.example"').first().waitFor();
});

it('the log of the open page follows each retry, however fast it ends', async () => {
  const params = { invoiceId: 'INV-8', email: 'amy@down.example' };
  const id = await startJob(shop.address, 'billing.send-invoice', params);
  await jobInState(shop.address, id, 'failed');
  const page = await open(`/jobs/${id}`);
  const log = page.locator('.log');
  await log.getByText(/^Attempt 3 ·/).waitFor();
  await page.getByText('complete', { exact: true }).waitFor();
  for (const attempt of [4, 5, 6]) {
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await log.getByText(new RegExp(`^Attempt ${attempt} ·`)).waitFor();
    await page.getByText(`Failed on attempt ${attempt} of ${attempt}: `).waitFor();
  }
});
