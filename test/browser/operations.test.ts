import { describe, expect, it, onTestFinished } from 'vitest';
import { jobInState, post, startJob } from '../support/api.ts';
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

    await page.getByRole('button', { name: 'Edit…' }).click();
    const form = page.getByRole('dialog', { name: 'Edit webhook' });
    await form.getByLabel('URL').fill('http://10.0.0.1/hooks');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText(/private|not allowed|address/i).waitFor();
    await form.getByLabel('URL').fill(receiver.url);
    await form.getByLabel('Description').fill('for the shop');
    await form.getByLabel('job.cancelled').check();
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Webhook saved.').waitFor();
    await page.getByText('for the shop', { exact: true }).waitFor();
    await page.getByText(/^job\..*job\.cancelled/).waitFor();

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
    await page.getByRole('listitem').filter({ hasText: 'sent again' }).first().waitFor();

    const params = { url: 'hook.png', width: 1 };
    const id = await startJob(shop.address, 'image.resize', params);
    await jobInState(shop.address, id, 'succeeded');
    const row = page.getByRole('listitem').filter({ hasText: 'job.succeeded' });
    await row
      .getByText(`image.resize ${id.slice(-12)}`)
      .first()
      .waitFor();

    receiver.answerWith(status(429, { 'retry-after': '7200' }));
    const later = await startJob(shop.address, 'image.resize', params);
    const waits = row.filter({ hasText: later.slice(-12) });
    await waits.getByText('retrying').waitFor();
    receiver.answerWith(status(204));
    await page.getByRole('button', { name: 'Send the 1 waiting of this page now' }).click();
    await waits.getByText('delivered').waitFor();
    expect(await waits.count()).toBe(1);

    await page.getByRole('button', { name: 'Pause…' }).click();
    await page.getByRole('button', { name: 'Pause webhook' }).click();
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
    const row = page.getByRole('row').filter({ hasText: id.slice(-12) });
    await row.getByText('job.cancel').waitFor();
    await row.getByText('127.0.0.1').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await row.getByRole('link', { name: 'job.cancel' }).click();
    await page.waitForURL(/action=job.cancel/);
    await page.getByLabel('Search the audit log').fill('key:unknown');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('No matching audit entries.').waitFor();
    await page.getByRole('link', { name: 'Search all time' }).click();
    await page.waitForURL(/since=all/);
    await page.getByRole('link', { name: 'Remove the filter Action: job.cancel' }).click();
    await page.getByLabel('Search the audit log').fill(id.slice(-6).toUpperCase());
    await page.getByRole('button', { name: 'Find' }).click();
    await row.getByText('job.cancel').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await row.getByRole('link', { name: id.slice(-12) }).click();
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
  await page.getByRole('button', { name: 'Show all' }).click();
  const kept = page.getByRole('row').filter({ hasText: 'LONGSHORE_RETENTION_DAYS' });
  await kept.getByRole('cell', { name: '7', exact: true }).waitFor();
  expect(await page.getByText('DATABASE_URL').count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
});

it('tenants are created and limited in the settings, and their jobs are found', async () => {
  const page = await open('/settings');
  await page.getByRole('button', { name: 'Create tenant…' }).click();
  await page.getByLabel('Name').fill('acme');
  await page.getByRole('button', { name: 'Create tenant', exact: true }).click();
  const row = page.getByRole('row').filter({ hasText: 'acme' });
  await row.getByRole('button', { name: 'Limits…' }).click();
  await page.getByLabel('Jobs at a time').fill('many');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^Jobs at a time must be empty/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel('Jobs at a time').fill('1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('acme: at most 1 job at a time, weight 1.').waitFor();

  const api = `${shop.address}/v1/jobs?tenant=acme`;
  const params = { month: '2026-11', pages: 2_000, pageMs: 100 };
  const ids: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    const { body } = await post(api, { definitionKey: 'report.build', params });
    ids.push((body as { jobId: string }).jobId);
  }
  await page.goto(`${shop.address}/ui/workers`);
  const held = page.getByRole('link', { name: 'report.build (acme)' });
  expect(await held.getAttribute('href')).toMatch(/\?tenant=acme$/);
  await page.goto(`${shop.address}/ui/jobs/${ids[1]}`);
  await page.getByText('This job belongs to tenant acme.').waitFor();
  forgiveComplaints();
  await page.getByRole('link', { name: 'Open it' }).click();
  await page.getByText('Tenant acme runs 1 of at most 1 job at a time.').waitFor();
  expect(await axeFindings(page)).toEqual([]);

  await page.goto(`${shop.address}/ui/settings`);
  await row.getByRole('button', { name: 'Pause…' }).click();
  await page.getByLabel('Reason (shown to others)').fill('their bill is unpaid');
  await page.getByRole('button', { name: 'Pause tenant' }).click();
  const paused = /Tenant acme was paused .* by anonymous \(no keys\): their bill is unpaid/;
  await row.getByText(paused).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.goto(`${shop.address}/ui/jobs/${ids[1]}?tenant=acme`);
  await page.getByText('Why isn’t it running?').waitFor();
  await page.getByText(paused).first().waitFor();
  await page.goto(`${shop.address}/ui/settings`);
  await row.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Tenant acme resumed.').waitFor();
  for (const id of ids) await post(`${shop.address}/v1/jobs/${id}/cancel?tenant=acme`, undefined);
});

describe('charts', () => {
  it('are drawn in a browser whose language is no language tag', async () => {
    const page = await open('/jobs');
    await page.addInitScript(() => {
      const language = { configurable: true, get: () => 'en-US@posix' };
      Object.defineProperty(Navigator.prototype, 'language', language);
    });
    await page.goto(`${shop.address}/ui/`);
    await page.getByRole('img', { name: /^Throughput, last hour/ }).waitFor();
    await page.locator('canvas').first().waitFor();
  });

  it('are drawn for a range, and listed as numbers', async () => {
    const params = { url: 'throughput.png', width: 1 };
    await jobInState(
      shop.address,
      await startJob(shop.address, 'image.resize', params),
      'succeeded',
    );
    const page = await open('/');
    await page.getByRole('img', { name: /^Throughput, last hour: [1-9]/ }).waitFor();
    await page.getByRole('img', { name: /^Queue depth, last hour: / }).waitFor();
    await page.getByText('New code:').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: '7 d', exact: true }).click();
    await page.getByRole('img', { name: /^Throughput, last 7 days: [1-9]/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?range=7d');
    await page.getByRole('heading', { name: 'Finished attempts per 2 hours' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: '7 d', exact: true, pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Show table' }).click();
    await page.getByRole('table', { name: /^Finished attempts, queue depth/ }).waitFor();
    const heat = page.getByRole('table', { name: /^Attempts by step and run time/ });
    await heat
      .getByRole('cell', { name: /^[1-9]\d*$/ })
      .first()
      .waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('show values below the pointer, zoom by dragging, and take a typed range', async () => {
    const page = await open('/');
    const plot = page.locator('.u-over').first();
    await plot.hover();
    const values = page.locator('.plot-values');
    await values.getByText('succeeded').waitFor();
    const box = await plot.boundingBox();
    if (!box) throw new Error('no chart');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 2, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 4, y, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    const { searchParams } = new URL(page.url());
    const [from = 0, to = 0] = ['from', 'to'].map((name) =>
      Date.parse(searchParams.get(name) ?? ''),
    );
    expect(to - from).toBeGreaterThan(20 * 60_000);
    expect(to - from).toBeLessThan(40 * 60_000);
    await page.goBack();
    await page.getByRole('button', { name: '1 h', exact: true, pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Custom…' }).click();
    await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('Charts go back 31 days.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('are on the page of a definition, below its rates and above its form', async () => {
    const page = await open('/definitions/image.resize?range=15m');
    await page.getByRole('img', { name: /^Durations of [1-9].* last 15 minutes/ }).waitFor();
    await page
      .getByRole('img', { name: /^Run time of the code, last 15 minutes: p50 at most / })
      .waitFor();
    const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    const place = (title: string) => headings.indexOf(title);
    expect(place('Rates')).toBe(0);
    expect(place('Queue depth')).toBeGreaterThan(place('Rates'));
    expect(place('Run')).toBeGreaterThan(place('Run time heat map'));
    await page
      .getByText(/^[<≈] .* \/ [<≈] /)
      .first()
      .waitFor();
    const map = page.locator('.u-over').last();
    await map.hover();
    const heat = await map.boundingBox();
    if (!heat) throw new Error('no heat map');
    const value = page.locator('.plot-values .line-heat');
    let words = '';
    for (let cell = 0; cell < 20 * 48 && !/ [1-9]\d*$/.test(words); cell += 1) {
      const [column, row] = [Math.floor(cell / 48), cell % 48];
      const x = heat.x + heat.width - 2 - (column * heat.width) / 20;
      await page.mouse.move(x, heat.y + ((row + 0.5) * heat.height) / 48);
      // Between two moves nothing may be shown for a moment.
      words = (await value.allInnerTexts()).join();
    }
    expect(words).toMatch(/ [1-9]\d*$/);
    expect(await axeFindings(page)).toEqual([]);
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

  it('are sent by routes, which can be added, tried, changed and deleted', async () => {
    const page = await open('/alerts');
    await page.getByText(/^No alert is sent: there is no route/).waitFor();
    await page.getByRole('button', { name: 'Add route…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('on-call');
    await dialog.getByLabel('E-mail addresses').fill('oncall');
    await dialog.getByLabel('Quiet hours').fill('22-7');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Quiet hours look like 22:00-07:00.').waitFor();
    await dialog.getByLabel('Quiet hours').fill('22:00-07:00');
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByLabel('sun', { exact: true }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/must be an e-mail address/).waitFor();
    await dialog.getByLabel('E-mail addresses').fill('oncall@example.com');
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^Route saved\..*LONGSHORE_SMTP_URL/).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'email: oncall@example.com' });
    await row.getByText('22:00-07:00 Europe/Berlin on mon, tue, wed, thu, fri, sat').waitFor();

    // This server has no mail server, and the message says so.
    await row.getByRole('button', { name: 'Send test' }).click();
    await page.getByRole('heading', { name: 'Messages of on-call' }).waitFor();
    await page.getByText('failed', { exact: true }).waitFor();
    const message = page.locator('summary').filter({ hasText: 'Test' });
    await message.getByText(/the worker has no LONGSHORE_SMTP_URL/).waitFor();
    await message.click();
    await page.getByText(/^Attempt 1,/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Hide' }).click();

    await row.getByRole('button', { name: 'Change…' }).click();
    await dialog.getByLabel('Channel').selectOption('slack');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/is required for slack/).waitFor();
    await dialog
      .getByLabel('URL of the incoming webhook')
      .fill('https://hooks.chat.invalid/services/T0');
    await dialog.getByLabel('Only these owners').fill('team-billing');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const chat = page.getByRole('row').filter({ hasText: 'slack: hooks.chat.invalid' });
    await chat.getByText('owners team-billing').waitFor();
    await chat.getByRole('button', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete route' }).click();
    await page.getByText('Route deleted.').waitFor();
    forgiveComplaints();
  });
});
