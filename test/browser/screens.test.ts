import { readFile } from 'node:fs/promises';
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
    await row.getByText('code', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Pause…' }).click();
    await page.getByLabel('Reason (shown to others)').fill('the disk is <full>');
    await page.getByRole('button', { name: 'Pause schedule' }).click();
    await page.getByText('nightly paused.').waitFor();
    await row.getByText('the disk is <full>').waitFor();
    await page.goto(`${shop.address}/ui/`);
    await page
      .getByRole('link', { name: /^Schedule nightly was paused .*the disk is <full>/ })
      .click();
    await page.getByText(/^Schedule nightly was paused .* ago by anonymous \(no keys\)/).waitFor();
    await page.getByText(/^code of storage.tidy: change it there/).waitFor();
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
    await page.goto(`${shop.address}/ui/schedules`);
    await row.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('nightly resumed.').waitFor();
    await row.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL(/\/ui\/jobs\/[0-9a-f-]{36}$/);
    await page.getByText(/^Succeeded on attempt 1/).waitFor();
    await page.goto(`${shop.address}/ui/schedules`);
    await page.getByRole('img', { name: 'Latest 1 slots: 1 succeeded' }).waitFor();
  });

  it('are created, edited and deleted, with a preview of their runs', async () => {
    const page = await open('/schedules');
    await page.getByRole('link', { name: 'New schedule' }).click();
    await page.getByLabel('Definition').selectOption('billing.send-invoice');
    await page.waitForURL(/definition=billing.send-invoice/);
    await page.getByLabel('Name').fill('monthly');
    await page.getByRole('main').getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByLabel('Cron expression').fill('0 0 31 4 *');
    await page.getByText('The cron expression matches no day within 400 years.').waitFor();
    forgiveComplaints();
    await page.getByLabel('Cron expression').fill('30 9 1 * *');
    const preview = page.getByRole('status', { name: 'Next runs' });
    await preview.getByText('At 09:30, on day 1 of the month (Asia/Tokyo).').waitFor();
    await expect.poll(async () => await preview.getByRole('listitem').count()).toBe(5);
    const nextRun = preview.getByRole('listitem').first();
    await expect.poll(async () => await nextRun.innerText()).toMatch(/01 \w+, 09:30/);
    await page.getByRole('main').getByLabel('Time zone').fill('Berlin');
    await preview.getByText('Unknown time zone "Berlin". Did you mean "Europe/Berlin"?').waitFor();
    forgiveComplaints();
    await page.getByRole('main').getByLabel('Time zone').fill('Asia/Tokyo');
    await expect.poll(async () => await preview.getByRole('listitem').count()).toBe(5);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('invoiceId').fill('INV-7');
    await page.getByLabel('email').fill('amy');
    await page.getByLabel('While an earlier job runs').selectOption('skip');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('must be an e-mail address').waitFor();
    expect(await page.locator('.toast-bad').count()).toBe(0);
    forgiveComplaints();
    await page.getByLabel('email').fill('amy@up.example');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('monthly created.').waitFor();
    await page.getByText('skip the run').first().waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    expect(await page.getByLabel('email').inputValue()).toBe('amy@up.example');
    await page.getByLabel('Name').fill('quarterly');
    await page.getByLabel('Cron expression').fill('30 9 1 */3 *');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('quarterly saved.').waitFor();
    await page.getByText(/^At 09:30, on day 1 of the month, every 3 months/).waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete schedule' }).click();
    await page.getByText('quarterly deleted.').waitFor();
    await page.waitForURL(/\/ui\/schedules$/);
    await page.getByRole('row').filter({ hasText: 'quarterly' }).waitFor({ state: 'detached' });
  });

  it('say in their editor why the definitions cannot be read', async () => {
    const { body } = await post(`${shop.address}/v1/schedules`, {
      definitionKey: 'image.resize',
      name: 'unread',
      cron: '0 3 * * *',
      params: { url: 'a.png', width: 7 },
    });
    const { id } = body as { id: string };
    const page = await open('/');
    const detail = 'definitions are not for you';
    await page.route('**/v1/definitions', async (route) => {
      await route.fulfill({ status: 403, json: { code: 'FORBIDDEN', status: 403, detail } });
    });
    await page.goto(`${shop.address}/ui/schedules/${id}/edit`);
    await page.getByRole('alert').getByText(detail).waitFor();
    await page.unrouteAll();
    await fetch(`${shop.address}/v1/schedules/${id}`, { method: 'DELETE' });
    forgiveComplaints();
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
    const page = await open('/schedules');
    let letThrough = () => {};
    const held = new Promise<void>((resolve) => (letThrough = resolve));
    await page.route(/\/v1\/(schedules\/.+\/(slots|next)|definitions)/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${shop.address}/ui/schedules/${id}`);
    await expect.poll(async () => await page.getByText('Loading…').count()).toBe(2);
    expect(await page.getByText(/Not due yet|No owner/).count()).toBe(0);
    letThrough();
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
    await page.getByText(/^Invalid JSON: /).waitFor();
    await json.fill('{"deep":[[[[[[[[[[]]]]]]]]]]}');
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText(/^\/deep.* levels/).waitFor();
    forgiveComplaints();
    await json.fill('{"url":"typed.png","width":3}');
    await page.getByLabel('Hold until released').check();
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText('Held until it is released.').waitFor();
    await page.getByText('"typed.png"').waitFor();
  });
});

describe('the log of a definition', () => {
  it('is followed across its jobs, each line with a link to its job', async () => {
    const page = await open('/definitions/billing.send-invoice');
    const start = async (invoiceId: string) =>
      await startJob(shop.address, 'billing.send-invoice', { invoiceId, email: 'amy@up.example' });
    await start('INV-early');
    await page.getByRole('button', { name: 'Follow log' }).click();
    const log = page.getByRole('log', { name: 'Log of all jobs of billing.send-invoice' });
    await log.getByText('rendering invoice INV-early, 1 copies').waitFor();
    const id = await start('INV-late');
    const line = log.locator('.log-line').filter({ hasText: 'INV-late' });
    await line.waitFor();
    expect(await line.locator('time').innerText()).toMatch(/:\d\d\.\d{3}$/);
    await log
      .getByText(/^\d{1,2} \w+ \d{4}$/)
      .first()
      .waitFor();
    await page.getByRole('searchbox', { name: 'Search the log' }).fill('INV-EARLY');
    await page.getByText('1 of 1 line').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const level = page.getByRole('combobox', { name: 'Minimum level' });
    await level.selectOption('fatal');
    await page.getByText('No line has this level.').waitFor();
    await level.selectOption('info');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download these lines' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('billing.send-invoice.log');
    expect(await readFile(await file.path(), 'utf8')).toMatch(
      new RegExp(`^\\S+Z ${id} info rendering invoice INV-late`, 'm'),
    );
    await line.getByRole('link').click();
    await page.waitForURL(new RegExp(`/jobs/${id}$`));
  });
});

describe('the command palette', () => {
  it('goes to screens, definitions and jobs by keyboard', async () => {
    const page = await open('/');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Command palette' });
    await palette.getByRole('option', { name: /^Overview/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.type('crm');
    await palette.getByRole('option', { name: /^crm.sync.*Definition/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'crm.sync' }).waitFor();
    await page.keyboard.press('Meta+k');
    await page.keyboard.type(shop.failed.slice(-12));
    await palette.getByRole('option', { name: /billing.send-invoice · failed/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/jobs/${shop.failed}$`));
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').fill('nothing like this');
    await palette.getByText('Nothing has this name.').waitFor();
    await palette.getByRole('option', { name: /^Search the jobs for “nothing like/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/jobs\?q=nothing/);
    await palette.waitFor({ state: 'detached' });
  });

  it('pauses and resumes a definition', async () => {
    const page = await open('/');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const name of ['Pause', 'Resume']) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to or do' }).fill(`${name} crm`);
      await page.getByRole('option', { name: `${name} crm.sync…`, selected: true }).waitFor();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: `${name} crm.sync?` });
      await dialog.getByRole('button', { name: `${name} definition` }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText(`crm.sync ${name.toLowerCase()}d.`).waitFor();
      await page.waitForURL(/\/definitions\/crm\.sync$/);
    }
  });

  it('finds a job of another tenant by its id, and says whose it is', async () => {
    await post(`${shop.address}/v1/tenants`, { tenant: 'palette' });
    const { body } = await post(`${shop.address}/v1/jobs?tenant=palette`, {
      definitionKey: 'image.resize',
      params: { url: 'theirs.png', width: 1 },
      hold: true,
    });
    const { jobId } = body as { jobId: string };
    const page = await open('/');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Command palette' });
    await palette.getByRole('combobox').fill(jobId);
    await palette.getByRole('option', { name: `${jobId} of tenant palette Job` }).waitFor();
    // The server refuses the id for this tenant and names the other one.
    forgiveComplaints();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/jobs/${jobId}\\?tenant=palette$`));
    await page.getByRole('heading', { level: 1, name: 'image.resize' }).waitFor();
  });
});

describe('an address without a thing', () => {
  it('has a way out', async () => {
    const page = await open('/schedules/0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400');
    await page.getByText(/not found\.$/).waitFor();
    forgiveComplaints();
    await page.getByRole('link', { name: 'Back to schedules' }).click();
    await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
    await page.goto(`${shop.address}/ui/definitions/unheard-of`);
    await page.getByRole('link', { name: 'Back to definitions' }).waitFor();
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
    await row.getByRole('button', { name: 'Drain…' }).click();
    await page.getByText(/^It waits for its running job to finish, for at most/).waitFor();
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
      .getByText(/was paused .* ago by anonymous \(no keys\): the disk is being moved <b>$/)
      .waitFor();
    const id = await startJob(shop.address, 'storage.tidy');
    await page.goto(`${shop.address}/ui/jobs/${id}`);
    await page.getByText(/^storage.tidy was paused/).waitFor();
    await page.getByText(/^Queued for .*, paused\.$/).waitFor();
    expect(await page.getByText('waiting for a worker').count()).toBe(0);
    await page.goto(`${shop.address}/ui/`);
    await page.getByRole('link', { name: /^1 job waits: storage.tidy was paused/ }).click();
    await page.getByRole('button', { name: 'Resume…' }).click();
    const asked = page.getByRole('dialog', { name: 'Resume storage.tidy?' });
    await asked.getByText('1 waiting job starts.').waitFor();
    await asked.getByText(/^Paused because: the disk is being moved/).waitFor();
    await asked.getByRole('button', { name: 'Resume definition' }).click();
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
    await page.getByText(/by anonymous \(no keys\)$/).waitFor();
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
