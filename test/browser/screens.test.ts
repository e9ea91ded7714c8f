import { describe, expect, it } from 'vitest';
import { jobInState, post, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

const { shop, open, forgiveComplaints } = dashboardPages();

describe('schedules', () => {
  it('say in words when they run, and can be run, paused and resumed', async () => {
    const page = await open('/schedules');
    const row = page.getByRole('row').filter({ hasText: 'nightly' });
    await row.getByText('At 02:30').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await row.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('nightly paused.').waitFor();
    await row.getByText('paused').waitFor();
    await row.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('nightly resumed.').waitFor();
    await row.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL(/\/ui\/jobs\/[0-9a-f-]{36}$/);
    await page.getByText(/^Succeeded on attempt 1/).waitFor();
    await page.goto(`${shop.address}/ui/schedules`);
    await page.getByRole('img', { name: 'Latest 1 slots: 1 succeeded' }).waitFor();
  });

  it('tell what clock changes do to them, and what became of their slots', async () => {
    const { body } = await post(`${shop.address}/v1/schedules`, {
      definitionKey: 'image.resize',
      name: 'gap',
      // The last Sunday of March, on which clocks go forward, is among these.
      cron: '30 2 25-31 3 *',
      timezone: 'Europe/Berlin',
      params: { url: 'gap.png', width: 7 },
    });
    const { id } = body as { id: string };
    const { body: made } = await post(`${shop.address}/v1/schedules/${id}/trigger`, undefined);
    await jobInState(shop.address, (made as { jobId: string }).jobId, 'succeeded');
    const page = await open(`/schedules/${id}`);
    await page.getByRole('table', { name: 'Next runs' }).getByText('+01:00').first().waitFor();
    await page
      .getByRole('table', { name: 'Next runs' })
      .getByText(/forward|skipped|exist/)
      .first()
      .waitFor();
    await page.getByText('succeeded, manual run', { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'View job' }).click();
    await page.getByRole('heading', { level: 1, name: 'image.resize' }).waitFor();
  });
});

describe('definitions', () => {
  it('have a form made from their schema, and say what is wrong beside its field', async () => {
    const page = await open('/definitions');
    await page.getByRole('link', { name: 'billing.send-invoice' }).click();
    await page.getByText('Sends an invoice by mail.').waitFor();
    await page.getByText('The number on the paper.', { exact: true }).waitFor();
    expect(await page.getByLabel('copies').inputValue()).toBe('1');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('invoiceId').fill('INV-1');
    await page.getByLabel('email').fill('amy@up.example');
    await page.getByLabel('copies').fill('many');
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText('must be a number').waitFor();
    expect(await page.getByLabel('copies').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('copies').fill('2');
    await page.getByLabel('language').selectOption('de');
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText(/^Succeeded on attempt 1 of 3/).waitFor();
    await page.getByText('"amy@up.example"').first().waitFor();
    expect(await page.getByText('"de"').count()).toBe(1);
  });

  it('take JSON as well, and what the latest job had', async () => {
    await startJob(shop.address, 'image.resize', { url: 'latest.png', width: 77 }, { hold: true });
    const page = await open('/definitions/image.resize');
    await page.getByRole('button', { name: 'Copy params of the latest job' }).click();
    const json = page.getByLabel('Params as JSON');
    expect(JSON.parse(await json.inputValue())).toEqual({ url: 'latest.png', width: 77 });
    await json.fill('{');
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText(/^The text is invalid JSON/).waitFor();
    await json.fill('{"deep":[[[[[[[[[[]]]]]]]]]]}');
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText(/^\/deep.* levels/).waitFor();
    forgiveComplaints();
    await json.fill('{"url":"typed.png","width":3}');
    await page.getByLabel('Hold until released').check();
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText('Held until it is released.').first().waitFor();
    await page.getByText('"typed.png"').waitFor();
  });
});

describe('workers', () => {
  it('show what they run, and can be drained', async () => {
    const params = { month: '2026-11', pages: 2_000, pageMs: 100 };
    const id = await startJob(shop.address, 'report.build', params);
    await jobInState(shop.address, id, 'running');
    const page = await open('/workers');
    const row = page.getByRole('row').filter({ hasText: 'active' });
    await row.getByRole('link', { name: 'report.build' }).waitFor();
    expect(await row.innerText()).toMatch(/1 of 4/);
    expect(await axeFindings(page)).toEqual([]);
    await row.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('button', { name: 'Drain worker' }).click();
    await page.getByText(/is draining\.$/).waitFor();
    await page.getByRole('heading', { name: 'Offline' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'active' }).waitFor();
    await fetch(`${shop.address}/v1/jobs/${id}/cancel`, { method: 'POST' });
  });
});

describe('a definition', () => {
  it('is paused with a reason that every reader finds, and goes on', async () => {
    const page = await open('/definitions/storage.tidy');
    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByLabel('Reason (shown to others)').fill('the disk is being moved <b>');
    await page.getByRole('button', { name: 'Pause definition' }).click();
    await page.getByText('storage.tidy paused.').waitFor();
    await page
      .getByText(/was paused .* ago \(no sign-in configured\): the disk is being moved <b>$/)
      .waitFor();
    const id = await startJob(shop.address, 'storage.tidy');
    await page.goto(`${shop.address}/ui/jobs/${id}`);
    await page.getByText(/^storage.tidy was paused/).waitFor();
    await page.getByText(/^Queued for .*, paused\.$/).waitFor();
    expect(await page.getByText('waiting for a worker').count()).toBe(0);
    await page.goto(`${shop.address}/ui/`);
    await page
      .getByRole('link', { name: /^storage.tidy was paused.*(1 job waits|Jobs wait)/ })
      .click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('storage.tidy resumed.').waitFor();
    await jobInState(shop.address, id, 'succeeded');
  });

  it('shows its limits, and who changed them', async () => {
    const page = await open('/definitions/image.resize');
    await page.getByRole('button', { name: 'Change…' }).click();
    await page.getByLabel('Concurrency', { exact: true }).fill('many');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Concurrency: must be a whole number/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Concurrency', { exact: true }).fill('7');
    await page.getByLabel('Rate limit', { exact: true }).fill('1000/1s');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('7 (in code: no limit)').waitFor();
    await page.getByText(/by open$/).waitFor();
    await page.goto(`${shop.address}/ui/definitions`);
    await page.getByText('7 at a time, 1000 in 1 s').waitFor();
    await page.getByRole('link', { name: 'image.resize' }).click();
    await page.getByRole('button', { name: 'Change…' }).click();
    for (const name of ['Concurrency', 'Rate limit'])
      await page.getByLabel(name, { exact: true }).fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('7 (in code: no limit)').waitFor({ state: 'detached' });
  });
});
