import { describe, expect, it } from 'vitest';
import { jobInState, readJob, startJob } from '../support/api.ts';
import { Canaries } from '../support/checks/canary.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';
import { HOSTILE } from '../support/servers/dashboard-server.ts';

const { shop, open, forgiveComplaints } = dashboardPages();

/** The part of an element that is needed here: this file is compiled for Node. */
interface Scrolled {
  scrollHeight: number;
  scrollTop: number;
  clientHeight: number;
}

describe('a job', () => {
  it('says what failed, why, how often and who owns it', async () => {
    const page = await open(`/jobs/${shop.failed}`);
    await page.getByText('Failed on attempt 3 of 3: HANDLER_ERROR').waitFor();
    await page.getByText('connect ECONNREFUSED 10.0.4.12:587').waitFor();
    expect(await page.getByText('team-billing').count()).toBe(1);
    const often = page.getByRole('link', { name: /^Same error|^The only job with this error/ });
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
    await page.getByText('No: it is running, and its worker is alive.').waitFor();
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
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByText('Cancellation requested.').waitFor();
    await page.getByText('Cancelled on attempt 1 of 3.').waitFor();
    await jobInState(shop.address, id, 'cancelled');
    await page.getByRole('table').getByText('Cancelled', { exact: true }).waitFor();
    expect(await page.getByText('well', { exact: true }).count()).toBe(0);
    await page.getByText('by a user (no sign-in configured)').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    forgiveComplaints();
  });

  it('shows the end of a long log', async () => {
    const params = { month: '2026-10', pages: 1_500, pageMs: 0 };
    const id = await startJob(shop.address, 'report.build', params);
    await jobInState(shop.address, id, 'succeeded');
    const page = await open(`/jobs/${id}`);
    await page.getByText('complete').waitFor();
    const last = page.getByRole('log').getByText('page 1500 of 1500', { exact: true });
    await last.waitFor();
    const hidden = async () =>
      await page.getByRole('log').evaluate((log) => {
        const { scrollHeight, scrollTop, clientHeight } = log as unknown as Scrolled;
        return Math.round(scrollHeight - scrollTop - clientHeight);
      });
    await expect.poll(hidden).toBeLessThanOrEqual(1);
    expect(await page.getByRole('button', { name: 'Jump to end' }).count()).toBe(0);
    // The reader goes up, and comes back.
    await page.getByRole('log').focus();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'Jump to end' }).click();
    await expect.poll(hidden).toBeLessThanOrEqual(1);
  });

  it('that is held can be released, and shows its result, and no secret', async () => {
    const canary = new Canaries().place('params');
    const params = { url: 'held.png', width: 2, apiKey: canary };
    const id = await startJob(shop.address, 'image.resize', params, { hold: true });
    const page = await open(`/jobs/${id}`);
    await page.getByText('Held until it is released.').first().waitFor();
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
    await page.getByRole('button', { name: 'Copy as CLI' }).click();
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

  it('that does not exist is told so', async () => {
    const page = await open('/jobs/01a1df1f-d3e5-7000-8564-1bb56646c400');
    await page
      .getByRole('alert')
      .getByText(/not found/i)
      .waitFor();
    forgiveComplaints();
  });
});
