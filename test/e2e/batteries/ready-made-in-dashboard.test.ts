import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { endAll, FIXTURES, launch } from '../../support/processes.ts';
import { type MailServer, startMailServer } from '../../support/providers/mail-server.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { browserStarts, openBrowser, visit, type Visitor } from '../../support/servers/browser.ts';
import { axeFindings } from '../../support/servers/dashboard-page.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { type Receiver, startReceiver, status } from '../../support/servers/receiver.ts';

/** Each ready-made job, from the form of its definition to its counterpart and back. */
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

describe.skipIf(!(await browserStarts()))('in the dashboard', () => {
  let browser: Browser;
  let visitor: Visitor;
  let database: TestDatabase;
  let receiver: Receiver;
  let mail: MailServer;
  let address: string;
  let reports: string;

  beforeAll(async () => {
    database = await testDatabase();
    reports = await quickFolder('longshore-reports-');
    await chmod(reports, 0o1777);
    [receiver, mail, browser] = await Promise.all([
      startReceiver(),
      startMailServer(),
      openBrowser(),
    ]);
    await database.sql(`create schema shop;
    create table shop.session (id int primary key, ended_at timestamptz);
    insert into shop.session values (1, now() - interval '90 days'), (2, now())`);
    const env = {
      DATABASE_URL: database.url,
      LONGSHORE_JOBS: join(FIXTURES, 'ready-made'),
      LONGSHORE_RUNNER_ENV: 'WEBHOOK_SECRET,SMTP_URL,SHOP_DATABASE_URL,REPORTS_STORAGE',
      REPORTS_STORAGE: reports,
      SHOP_DATABASE_URL: database.url,
      WEBHOOK_SECRET: SECRET,
      SMTP_URL: mail.url,
    };
    ({ address } = (await launch('start', { env })).summary);
  });

  afterAll(async () => {
    await browser.close();
    await endAll();
    await Promise.all([receiver.close(), mail.close()]);
    await database.close();
    await rm(reports, { recursive: true, force: true });
  });

  beforeEach(async () => void (visitor = await visit(browser)));
  afterEach(async () => {
    await visitor.context.close();
    expect(visitor.complaints).toEqual([]);
  });

  /** The form of a definition, filled in with its example. */
  async function example(definitionKey: string): Promise<Page> {
    const { page } = visitor;
    await page.goto(`${address}/ui/definitions/${definitionKey}`);
    await page.getByRole('button', { name: 'Fill in example' }).click();
    return page;
  }

  async function run(page: Page) {
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByText(/^Succeeded on attempt 1 of/).waitFor();
    return page.getByRole('region', { name: 'Result' });
  }

  it('a test delivery of a webhook arrives signed, and its receipt is shown', async () => {
    receiver.answerWith(status(202, {}, 'thank you'));
    const page = await example('webhook_delivery');
    await page.getByLabel('url').fill(receiver.url);
    const receipt = await run(page);
    await receipt.getByText('202', { exact: true }).waitFor();
    await receipt.getByText('thank you', { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const [hook] = await receiver.have(1);
    const headers = hook?.headers as Record<string, string>;
    expect(new Webhook(SECRET).verify(hook?.body ?? '', headers)).toMatchObject({ type: 'test' });
    expect(await receipt.innerText()).toContain(headers['webhook-id']);
    await receipt.getByRole('button', { name: 'View as JSON' }).click();
    await receipt.getByText('"thank you"').waitFor();
  });

  it('a test notification is an e-mail, and its receipt names the recipient', async () => {
    const page = await example('notification');
    await page.getByLabel('to', { exact: true }).fill('amy@example.com');
    const receipt = await run(page);
    await receipt.getByText('amy@example.com', { exact: true }).waitFor();
    expect(mail.mails.map(({ to }) => to)).toEqual([['amy@example.com']]);
    expect(mail.mails[0]?.source).toContain('A test message of Longshore');
  });

  it('a report is stored, and its result names the file and its rows', async () => {
    const page = await example('report');
    const result = await run(page);
    await result.getByText('2', { exact: true }).waitFor();
    const [name = ''] = await readdir(reports);
    expect(await result.innerText()).toContain(name);
    expect((await readFile(join(reports, name), 'utf8')).trim().split('\n')).toHaveLength(3);
  });

  it('a dry run of a cleanup counts rows and deletes none', async () => {
    const page = await example('cleanup');
    expect(await page.getByLabel('dryRun').inputValue()).toBe('true');
    const result = await run(page);
    await result.getByText('Dry run', { exact: true }).waitFor();
    await result.getByText('Sessions', { exact: true }).waitFor();
    expect(await database.sql('select id from shop.session')).toHaveLength(2);
  });
});
