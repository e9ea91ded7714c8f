import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../../src/client/index.ts';
import { fieldsOf } from '../../../src/core/form/schema-form.ts';
import { xlsxRows } from '../../support/files/xlsx-rows.ts';
import { blocksOf, commandsIn } from '../../support/checks/docs-blocks.ts';
import type { ReportResult } from '../../../src/batteries/report/report.ts';
import { jobInState, startJob } from '../../support/api.ts';
import { endAll, launch, run } from '../../support/processes.ts';
import { type MailServer, startMailServer } from '../../support/providers/mail-server.ts';
import { slackAnswer } from '../../support/providers/providers.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { until } from '../../support/until.ts';
import { type Receiver, startReceiver } from '../../support/servers/receiver.ts';

const PAGE = 'docs/ready-made-jobs.md';
// Inside the checkout, so that `longshore/batteries` resolves as it does for a user.
const FOLDER = fileURLToPath(new URL('../../../tmp/batteries/', import.meta.url));
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

describe(PAGE, () => {
  let database: TestDatabase;
  let receiver: Receiver;
  let chat: Receiver;
  let mail: MailServer;
  let client: Record<string, string>;
  let address: string;
  let archives: string;
  let reports: string;

  beforeAll(async () => {
    archives = await quickFolder('longshore-archives-');
    reports = await quickFolder('longshore-reports-');
    // Jobs run as other users.
    for (const folder of [archives, reports]) await chmod(folder, 0o1777);
    for (const { file, text } of blocksOf(PAGE, 'ts')) {
      const path = join(FOLDER, file ?? '');
      await mkdir(dirname(path), { recursive: true });
      // The receivers of this test are on this machine.
      const local = text
        .replace(/(webhookDelivery|notification)\(\{/, "$1({ allow: ['127.0.0.0/8'],")
        .replace('/var/lib/shop/archives', archives)
        .replace('/var/lib/shop/reports', reports);
      await writeFile(path, local);
    }
    database = await testDatabase();
    [receiver, chat] = [await startReceiver(), await startReceiver()];
    chat.answerWith((response, request) => {
      const { status, body } = slackAnswer(request);
      response.writeHead(status).end(String(body));
    });
    mail = await startMailServer();
    const env = {
      DATABASE_URL: database.url,
      LONGSHORE_JOBS: join(FOLDER, 'jobs'),
      LONGSHORE_RUNNER_ENV:
        'WEBHOOK_SECRET,SMTP_URL,SLACK_URL,SHOP_DATABASE_URL,REPORTS_DATABASE_URL,REPORT_LINK_SECRET',
      LONGSHORE_REPORTS: reports,
      LONGSHORE_REPORT_SECRET: 'a secret of the test',
      REPORT_LINK_SECRET: 'a secret of the test',
      SHOP_DATABASE_URL: database.url,
      REPORTS_DATABASE_URL: database.url,
      WEBHOOK_SECRET: SECRET,
      SMTP_URL: mail.url,
      SLACK_URL: chat.url,
    };
    await database.sql(`create schema shop;
      create table shop.session (id int primary key, ended_at timestamptz);
      create table shop.event (id int primary key, at timestamptz, pinned boolean);
      create table shop.customer (id int primary key);
      create table shop.invoice (id int primary key, customer int, name text);
      insert into shop.session values (1, now() - interval '90 days'), (2, now());
      insert into shop.event values (1, now() - interval '3 years', false);
      insert into shop.customer values (17);
      insert into shop.invoice values (1, 17, 'Ada');
      create table shop.sale (sold_at timestamptz, product text, amount numeric);
      insert into shop.sale values ('2030-01-02 10:00Z', 'rope', 9.90), ('2029-01-02', 'sail', 1)`);
    ({ address } = (await launch('start', { env })).summary);
    client = { LONGSHORE_URL: address };
  });

  afterAll(async () => {
    await endAll();
    await Promise.all([receiver.close(), chat.close(), mail.close()]);
    await database.close();
    await rm(FOLDER, { recursive: true, force: true });
    for (const folder of [archives, reports]) await rm(folder, { recursive: true, force: true });
  });

  it('has commands whose jobs reach their receivers', async () => {
    const commands = blocksOf(PAGE, 'sh').flatMap(commandsIn);
    expect(commands).toHaveLength(9);
    for (const { args } of commands) {
      const here = args.map((word) => word.replace('https://example.com/hooks', receiver.url));
      const { code, stdout, stderr } = await run([...here, '--wait'], { env: client });
      expect(code, stdout + stderr).toBe(0);
      expect(stdout).not.toContain('mail-password');
    }
    const [hook] = receiver.received;
    const headers = hook?.headers as Record<string, string>;
    expect(new Webhook(SECRET).verify(hook?.body ?? '', headers)).toEqual({ order: 17 });
    expect(chat.received.map(({ body }) => JSON.parse(body) as object)).toEqual([
      { text: 'The import is done.' },
    ]);
    expect(await database.sql('select id from shop.session')).toEqual([{ id: 2 }]);
    expect(await database.sql('select name from shop.invoice')).toEqual([{ name: 'erased' }]);
    expect(await readdir(archives)).toHaveLength(1);
    expect(mail.mails.map(({ to }) => to)).toEqual([['ada@example.com'], ['ada@example.com']]);
    expect(mail.mails[0]?.source).toContain('Hello <b>Ada</b>, order 17 is on its way.');
  });

  it('stores reports that its links download', async () => {
    const body = { report: 'sales', values: { since: '2030-01-01' } };
    const job = await jobInState(address, await startJob(address, 'report', body), 'succeeded');
    const result = job.result as ReportResult;
    expect(result).toMatchObject({ title: 'Sales since 2030-01-01', rows: 1, truncated: false });
    expect(await readdir(reports)).toContain(result.name);
    const link = result.link?.replace('https://jobs.example.com', address) ?? '';
    const answer = await fetch(link);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="sales.csv"');
    expect(await answer.text()).toBe(
      'Sold at,product,Amount in €\r\n2030-01-02 10:00:00+00,rope,9.90\r\n',
    );
    expect((await fetch(link.replace('sales.csv', 'other.csv'))).status).toBe(403);
  });

  it('has a form for reports in the dashboard', async () => {
    const answer = await fetch(`${address}/v1/definitions`);
    const { definitions } = (await answer.json()) as {
      definitions: { key: string; paramsSchema: unknown }[];
    };
    const schema = definitions.find(({ key }) => key === 'report')?.paramsSchema;
    const fields = fieldsOf(schema)?.map(({ label, kind }) => `${label}: ${kind}`);
    expect(fields?.sort()).toEqual([
      'format: choice',
      'report: choice',
      'send.as: choice',
      'send.channel: choice',
      'send.to: mixed',
      'values: json',
    ]);
  });

  it('attaches a workbook to an e-mail', async () => {
    const { source = '' } = mail.mails[1] ?? {};
    const [, base64 = ''] = /filename=primes.xlsx\r\n\r\n([\w+/=\r\n]+)/.exec(source) ?? [];
    const rows = await xlsxRows(Buffer.from(base64, 'base64'));
    expect(rows).toEqual([['Number'], [2], [3], [5], [7]]);
  });

  it('serves the example of source document 004 as it is written', async () => {
    const body = {
      type: 'webhook_delivery',
      payload: { url: receiver.url, data: { greeting: 'hello' } },
      idempotencyKey: 'unique-key',
      runAt: '2024-01-15T10:30:00Z',
      priority: 'normal',
    };
    const post = async () =>
      await fetch(`${address}/api/jobs/enqueue`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const [first, again] = [await post(), await post()];
    const { id } = (await first.json()) as { id: string };
    expect([first.status, ((await again.json()) as { id: string }).id]).toEqual([202, id]);
    await receiver.have(2);
    expect(receiver.received.at(-1)?.body).toBe('{"greeting":"hello"}');
    const job = await until('the job has succeeded', async () => {
      const answer = await fetch(`${address}/api/jobs/${id}`);
      const shown = (await answer.json()) as { status: string };
      return shown.status === 'success' && shown;
    });
    expect(job).toMatchObject({ type: 'webhook_delivery', attempt: 1 });
  });

  it('takes them over the API, and returns their receipts', async () => {
    const client = new Longshore({ url: address });
    const result = async (key: string, params: object) =>
      await (await client.enqueue(key, params)).result();
    expect(await result('webhook_delivery', { url: receiver.url, data: 1 })).toMatchObject({
      status: 204,
      sends: 1,
    });
    const mails = { channel: 'mail', to: 'amy@example.com', text: 'hello' };
    expect(await result('notification', mails)).toMatchObject({
      channel: 'mail',
      receipts: [{ to: 'amy@example.com' }],
    });
    const dry = await result('cleanup', { action: 'retention', dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, rules: { sessions: { rows: 0 } } });
  });

  it('refuses wrong params at once', async () => {
    const wrong = await run(['enqueue', 'webhook_delivery', '{"data":1}'], {
      env: client,
    });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('params /url')]);
  });
});
