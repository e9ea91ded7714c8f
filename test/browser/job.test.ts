import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { jobInState, readJob, startJob } from '../support/api.ts';
import { Canaries } from '../support/checks/canary.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';
import { until } from '../support/until.ts';

const { shop, open, forgiveComplaints } = dashboardPages();

const LINES = 50_000;

/** The part of an element that is needed here: this file is compiled for Node. */
interface Boxed {
  getClientRects(): { length: number };
}

interface Scrolled {
  scrollHeight: number;
  scrollTop: number;
  clientHeight: number;
}

describe('a job', () => {
  it('says what failed, why, how often and who owns it', async () => {
    const page = await open(`/jobs/${shop.failed}`);
    await page.getByText('Failed on attempt 3 of 3: connect ECONNREFUSED 10.0.4.12:587').waitFor();
    await page.getByText('connect ECONNREFUSED 10.0.4.12:587').nth(1).waitFor();
    await page.getByText('(the error above)').nth(2).waitFor();
    expect(await page.getByText('invoice INV-2291 could not be sent').count()).toBe(1);
    await page.getByText(`longshore replay ${shop.failed} --jobs`).waitFor();
    expect(await page.getByText('team-billing').count()).toBe(1);
    const often = page.getByRole('link', {
      name: /^Same error|^The only dead letter with this error/,
    });
    await often.waitFor();
    const runbook = page.getByRole('link', { name: 'Runbook' });
    expect(await runbook.getAttribute('href')).toBe('https://wiki.example.com/runbooks/invoices');
    expect(await runbook.getAttribute('rel')).toBe('noreferrer');
    await page.getByRole('table').getByRole('row').nth(3).waitFor();
    const log = page.getByRole('log');
    await log.getByText('smtp.internal:587 does not answer').nth(2).waitFor();
    await page.getByText('complete').waitFor();
    await page.getByText('retry scheduled').first().waitFor();
    await page.getByText('"amy@down.example"').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'monthly' }).click();
    await page.waitForURL(/tag=monthly/);
  });

  it('shows its live output, and begins it again with the next attempt', async () => {
    const question = 'what is the tide today';
    const id = await startJob(shop.address, 'support.answer', { question });
    const page = await open(`/jobs/${id}`);
    const output = page.getByRole('log', { name: 'Live output of the job' });
    await output.getByText(`attempt 2: ${question} <b>done</b>`, { exact: true }).waitFor();
    expect(await output.textContent()).not.toContain('attempt 1');
    await page.getByText(/^attempt 2 · following$/).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await jobInState(shop.address, id, 'suspended');
    await fetch(`${shop.address}/v1/jobs/${id}/cancel`, { method: 'POST' });
    await page.getByText(/^attempt 2 · complete$/).waitFor();
  });

  it('says which shape its params have, if the code has another', async () => {
    const message = { text: 'Your parcel is on its way.' };
    const old = { paramsShape: 1, hold: true };
    const id = await startJob(shop.address, 'parcel.notify', message, old);
    const page = await open(`/jobs/${id}`);
    const upgraded = '1 (the code has 2, and upgrades them when the job starts)';
    const shape = page.getByText('Shape of params', { exact: true });
    await shape
      .locator('xpath=following-sibling::dd')
      .getByText(upgraded, { exact: true })
      .waitFor();
    await fetch(`${shop.address}/v1/jobs/${id}/release`, { method: 'POST' });
    const { result } = await jobInState(shop.address, id, 'succeeded');
    expect(result).toEqual({ sent: 'Your parcel is on its way.', to: 'sms' });
  });

  it('says why it does not run', async () => {
    const page = await open(`/jobs/${shop.unhandled}`);
    await page.getByText('No worker has registered “video.transcode”.').waitFor();
    await page.goto(`${shop.address}/ui/jobs/${shop.retrying}`);
    await page.getByText(/^Attempt 1 failed; the next one waits for the backoff/).waitFor();
  });

  it('can be followed while it runs, over a lost connection, and can be cancelled', async () => {
    const params = { month: '2026-10', pages: 2_000, pageMs: 100 };
    const id = await startJob(shop.address, 'report.build', params);
    const page = await open(`/jobs/${id}`);
    const log = page.getByRole('log');
    await log.getByText('page 3 of 2000').waitFor();
    await page
      .getByText(/^No sign of it: its worker is alive\. Its timeout of .* ends it at the latest\.$/)
      .waitFor();
    await page.getByRole('progressbar').waitFor();
    expect(await axeFindings(page)).toEqual([]);

    await page.context().setOffline(true);
    await page.getByText('Server unreachable, retrying').waitFor();
    await page.context().setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
    const { progress } = await readJob(shop.address, id);
    await log.getByText(progress?.message ?? 'no progress', { exact: true }).waitFor();
    const lines = (await log.textContent())?.match(/page \d+ of 2000/g) ?? [];
    expect(lines).toEqual(lines.map((_, index) => `page ${index + 1} of 2000`));

    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep running' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByText('Cancellation requested.').waitFor();
    await page.getByText('Cancelled on attempt 1 of 3.').waitFor();
    await jobInState(shop.address, id, 'cancelled');
    await page.getByRole('table').getByText('Cancelled', { exact: true }).waitFor();
    expect(await page.getByText('well', { exact: true }).count()).toBe(0);
    await page.getByText('by anonymous (no keys)').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    forgiveComplaints();
  });

  it('shows the end of a long log, filters it, searches it and offers it as a file', async () => {
    const id = await startJob(shop.address, 'log.flood', { lines: LINES });
    await jobInState(shop.address, id, 'succeeded');
    const page = await open(`/jobs/${id}`);
    const log = page.getByRole('log');
    const line = (text: string) => log.getByText(text, { exact: true });
    await page.getByText('complete').waitFor({ timeout: 60_000 });
    await line(`row ${LINES} of ${LINES} is slow`).waitFor();
    const hidden = async () =>
      await log.evaluate((box) => {
        const { scrollHeight, scrollTop, clientHeight } = box as unknown as Scrolled;
        return Math.round(scrollHeight - scrollTop - clientHeight);
      });
    const fromTop = async () => await log.evaluate((box) => (box as unknown as Scrolled).scrollTop);
    await expect.poll(hidden).toBeLessThanOrEqual(1);
    expect(await page.getByRole('button', { name: 'Jump to end' }).count()).toBe(0);
    // The reader goes up, and comes back.
    await log.focus();
    await page.keyboard.press('Home');
    // Chromium animates the way up; a click in the middle of it does not end the animation.
    await expect.poll(fromTop).toBe(0);
    await page.getByRole('button', { name: 'Jump to end' }).click();
    await expect.poll(hidden).toBeLessThanOrEqual(1);

    // A match far away from the end, and the ones around it.
    const search = page.getByRole('searchbox', { name: 'Search the log' });
    await search.fill('ROW 2500');
    await page.getByText('11 of 11 lines').waitFor();
    await line(`row 25009 of ${LINES}`).waitFor();
    expect(await log.locator('mark').first().textContent()).toBe('row 2500');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('1 of 11 lines').waitFor();
    await line(`row 2500 of ${LINES}`).waitFor();
    await search.press('Shift+Enter');
    await page.getByText('11 of 11 lines').waitFor();
    await search.fill('no such text');
    await page.getByText('No matching lines').waitFor();
    await search.fill('');

    await page.getByRole('combobox', { name: 'Minimum level' }).selectOption('warn');
    await line(`row 1000 of ${LINES} is slow`).waitFor();
    expect(await log.locator('.log-line').count()).toBe(LINES / 1_000);
    expect(await axeFindings(page)).toEqual([]);

    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download text' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe(`job-${id}.log`);
    const text = await readFile(await file.path(), 'utf8');
    expect(text.match(/row \d+ of/g)).toHaveLength(LINES);
  });

  it('that is held can be released, and shows its result, and no secret', async () => {
    const canary = new Canaries().place('params');
    const params = { url: 'held.png', width: 2, apiKey: canary };
    const id = await startJob(shop.address, 'image.resize', params, { hold: true });
    const page = await open(`/jobs/${id}`);
    await page.getByText('Held until it is released.').waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    await page.getByText('Job released.').waitFor();
    await page.getByText(/^Succeeded on attempt 1 of 3 in/).waitFor();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await page.getByText('640', { exact: true }).waitFor();
    await page.getByText('[redacted]').first().waitFor();
    expect(await page.content()).not.toContain(canary);
  });

  it('that changed under the hands of its reader says so', async () => {
    const id = await startJob(shop.address, 'image.resize', { url: 'x', width: 1 }, { hold: true });
    const page = await open(`/jobs/${id}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await fetch(`${shop.address}/v1/jobs/${id}/cancel`, { method: 'POST' });
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByText('The job is cancelled: it can no longer be cancelled.').waitFor();
    forgiveComplaints();
  });

  it('can be taken along as a command', async () => {
    const page = await open(`/jobs/${shop.failed}`);
    await page.getByRole('button', { name: 'Copy as new job: CLI' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.keyboard.press('/');
    await page.locator('#search:focus').press('ControlOrMeta+V');
    const text = await page.locator('#search').inputValue();
    expect(text).toContain(`longshore enqueue billing.send-invoice '{"invoiceId":"INV-2291"`);
    expect(text).toContain(`--url ${shop.address}`);
  });

  it('shows hostile words as words, everywhere', async () => {
    const page = await open(`/jobs/${shop.hostile}`);
    await page.getByText(`the cause of ${HOSTILE}`).first().waitFor();
    await page.getByRole('log').getByText(HOSTILE).waitFor();
    await page.getByRole('log').getByText('red \ufffdgnp.exe').waitFor();
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    expect(await page.locator('img, script:not([src])').count()).toBe(0);
    expect(await page.title()).toBe('hostile · Longshore');
  });

  it('has its waits, attempts, steps and events on one timeline, and as a list', async () => {
    const id = await startJob(shop.address, 'order.fulfil', { orderId: 'O-7', stepMs: 20 });
    await jobInState(shop.address, id, 'succeeded');
    const page = await open(`/jobs/${id}`);
    const timeline = page.getByRole('group', { name: 'Timeline' });
    const bar = (name: RegExp) => timeline.getByRole('img', { name });
    await bar(/^Waiting for the retry: /).waitFor();
    await bar(/^Attempt 1: .*Failed, retried: HANDLER_ERROR\.$/).waitFor();
    await bar(/^parcel\.packed at /).hover();
    await timeline.getByText(/^parcel\.packed at .*Event of attempt 2\.$/).waitFor();
    await bar(/^charge card: \d+ ms, from .* Step of attempt 1\.$/).focus();
    await timeline.getByText(/^charge card: /).waitFor();
    await page.keyboard.press('ArrowDown');
    await timeline.getByText(/^Attempt 2: .*Succeeded\.$/).waitFor();
    await page.getByLabel('Part of the timeline').selectOption({ index: 2 });
    expect(await bar(/^Attempt 1: /).count()).toBe(0);
    await page.getByText('As a list').click();
    const list = page.getByRole('table', { name: 'Timeline, oldest first' });
    await list.getByRole('row', { name: /^charge card .* ms Step of attempt 1$/ }).waitFor();
    const steps = page.getByRole('list', { name: 'Stored steps, oldest first' });
    await steps.getByText('"label.pdf"').waitFor();
    await page.getByText('parcel.packed', { exact: true }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    const attempts = page.getByRole('table', { name: 'Attempts, oldest first' });
    const code = attempts.getByText('HANDLER_ERROR', { exact: true });
    // A code in one piece, not HANDLER_ERRO / R.
    expect(
      await code.evaluate((element) => (element as unknown as Boxed).getClientRects().length),
    ).toBe(1);

    await page.getByRole('link', { name: 'Compare the last two' }).click();
    await page.waitForURL(/compare\?a=.*claimA=1&claimB=2/);
    const facts = page.getByRole('table', { name: 'Facts of both runs' });
    await facts.getByText('HANDLER_ERROR no courier for order O-7').waitFor();
    const compared = page.getByRole('table', { name: 'Durations of the steps of both runs' });
    await compared.getByRole('row', { name: /^charge card \d+ ms reused$/ }).waitFor();
  });

  it('draws the step that an attempt failed in, and names it', async () => {
    const params = { orderId: 'O-8', stepMs: 20, jams: true };
    const id = await startJob(shop.address, 'order.fulfil', params, { maxAttempts: 1 });
    await jobInState(shop.address, id, 'failed');
    const page = await open(`/jobs/${id}`);
    await page.getByText('Failed on attempt 1 of 1 in step "print label": paper jam').waitFor();
    await page.getByRole('heading', { name: 'Why it failed in step "print label"' }).waitFor();
    const bar = page.getByRole('img', { name: /^print label: .*Failed step, attempt 1\.$/ });
    await bar.and(page.locator('.bar-failed')).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  it('can be copied with other params, and be compared with the first', async () => {
    const rows = Array.from({ length: 400 }, (_, n) => `row ${n}`);
    const params = { url: 'big.png', width: 2, rows, text: 'x'.repeat(20_000) };
    const id = await startJob(shop.address, 'image.resize', params, { tags: ['eu'] });
    await jobInState(shop.address, id, 'succeeded');
    const page = await open(`/jobs/${id}`);
    const panel = page.getByRole('region', { name: 'Params' });
    await panel.getByRole('button', { name: /^Show all \(\d+ KiB\)$/ }).waitFor();
    const height = await page
      .locator('body')
      .evaluate((body) => (body as unknown as Scrolled).scrollHeight);
    expect(height).toBeLessThan(2_500);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      panel.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toEqual(params);
    await panel.getByRole('button', { name: /^Show all/ }).click();
    await panel.getByRole('button', { name: 'Show less' }).waitFor();

    await page.getByRole('button', { name: 'Copy as new job…' }).click();
    const text = page.getByRole('textbox', { name: 'Params' });
    await text.fill('{');
    await page.getByRole('button', { name: 'Copy as new job', exact: true }).click();
    await page.getByText(/Invalid JSON: /).waitFor();
    await text.fill('{"url":"big.png","width":9}');
    await page.getByRole('button', { name: 'Copy as new job', exact: true }).click();
    await page.waitForURL((url) => url.search === `?from=${id}` && !url.pathname.endsWith(id));
    await page.getByText('Job enqueued.').waitFor();
    await page.getByText(/^Succeeded on attempt 1 of 3 in/).waitFor();
    await page.getByRole('link', { name: 'eu' }).waitFor();

    await page.getByRole('link', { name: 'Compare both' }).click();
    const differences = page.getByRole('table', { name: 'Params: differences' });
    await differences.getByRole('row', { name: 'width 2 9' }).waitFor();
    await differences.getByText('absent').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Choose another job' }).click();
    await page.getByText('Compare with another job of this definition:').waitFor();
    await page.getByRole('textbox', { name: 'Id of another job' }).fill(shop.failed);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('These jobs have different definitions.').waitFor();
  });

  it('leaves its messages behind, and says that the server is gone', async () => {
    const id = await startJob(shop.address, 'image.resize', { url: 'x', width: 1 }, { hold: true });
    const page = await open(`/jobs/${id}`);
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Release' }).click();
    const refused = page.getByText("Can't reach the server. Your change was NOT applied.");
    await refused.waitFor();
    // A message of the last second may be about the way to the next page.
    const walked = async () => {
      await page.getByRole('link', { name: 'Workers' }).click();
      await page.getByRole('link', { name: 'Schedules' }).click();
      return (await refused.count()) === 0;
    };
    await until('the message is gone', walked);
    await page.getByText("Can't reach the server. Trying again…").waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Schedules' }).waitFor();
    forgiveComplaints();
  });

  it('that does not exist shows a page that says so', async () => {
    const page = await open('/jobs/01a1df1f-d3e5-7000-8564-1bb56646c400');
    await page
      .getByRole('main')
      .getByText(/not found/i)
      .waitFor();
    forgiveComplaints();
  });
});
