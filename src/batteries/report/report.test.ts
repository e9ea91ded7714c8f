import { readdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { slack } from '../notification/chat.ts';
import { email } from '../notification/email.ts';
import { report, type ReportOptions, type ReportParams } from './report.ts';
import { openStorage } from '../../artifacts/open-storage.ts';
import { judgeLink } from '../../reports/report-link.ts';
import { runJob } from '../../testing/run-job.ts';
import {
  ACCESS_KEY,
  BUCKET,
  type S3Server,
  SECRET_KEY,
  startS3Server,
} from '../../../test/support/artifacts/s3-server.ts';
import { scratch } from '../../../test/support/artifacts/scratch.ts';
import { type MailServer, startMailServer } from '../../../test/support/providers/mail-server.ts';
import { slackAnswer } from '../../../test/support/providers/providers.ts';
import { type Receiver, startReceiver } from '../../../test/support/servers/receiver.ts';

const SECRET = 'a secret of the test';
let mail: MailServer;
let chat: Receiver;
let storage: string;
let queries: number;

beforeEach(async () => {
  [mail, chat, storage] = [await startMailServer(), await startReceiver(), await scratch()];
  chat.answerWith((response, request) => {
    const { status, body } = slackAnswer(request);
    response.writeHead(status).end(String(body));
  });
  vi.stubEnv('SMTP_URL', mail.url);
  vi.stubEnv('CHAT_URL', chat.url);
  vi.stubEnv('LINK_SECRET', SECRET);
  queries = 0;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all([mail.close(), chat.close()]);
});

const job = (more: Partial<ReportOptions> = {}) =>
  report({
    storage,
    link: { url: 'https://jobs.example.com', secret: 'LINK_SECRET' },
    channels: {
      mail: email({ smtp: 'SMTP_URL', from: 'shop@example.com' }),
      chat: slack({ url: 'CHAT_URL' }),
    },
    allow: ['127.0.0.0/8'],
    reports: {
      sales: {
        title: 'Sales & <more>',
        columns: { n: {} },
        *rows() {
          queries += 1;
          for (let n = 0; n < 500; n += 1) yield { n: n * 1_000_000 };
        },
      },
    },
    ...more,
  });
const params = (send: ReportParams['send']): ReportParams => ({ report: 'sales', send });

describe('a report', () => {
  it('is sent as a link, which the server accepts', async () => {
    const { result } = await runJob(job(), params({ channel: 'mail', to: 'ada@example.com' }));
    expect(result?.sent).toMatchObject({ channel: 'mail', as: 'link', note: null });
    const { source = '' } = mail.mails[0] ?? {};
    const plain = source.replaceAll('=\r\n', '').replaceAll('=3D', '=');
    expect(plain).toContain('Subject: Sales & <more>');
    expect(plain).toContain('Sales & <more>: 500 rows, CSV, 6 KB.');
    const url = new URL(result?.link ?? '');
    expect(plain).toContain(url.href);
    const [, name = '', file = ''] = /reports\/(.*)\/(.*)$/.exec(url.pathname) ?? [];
    const signature = url.searchParams.get('signature') ?? '';
    expect(judgeLink({ name, file }, signature, SECRET, new Date())).toBe('valid');
    const expires = new Date(result?.expiresAt ?? '');
    expect(judgeLink({ name, file }, signature, SECRET, expires)).toBe('expired');
  });

  it('is sent as an attachment up to a size, and as a link above', async () => {
    const send = { channel: 'mail', to: 'ada@example.com', as: 'attachment' } as const;
    const attached = await runJob(job(), params(send));
    expect(attached.result?.sent).toMatchObject({ as: 'attachment', note: null });
    const { source = '' } = mail.mails[0] ?? {};
    const [, base64 = ''] = /filename=sales.csv\r\n\r\n([\w+/=\r\n]+)/.exec(source) ?? [];
    expect(Buffer.from(base64, 'base64')).toHaveLength(attached.result?.bytes ?? 0);
    expect(source).not.toContain('jobs.example.com');
    const large = await runJob(job({ attachmentMb: 0.001 }), params(send));
    expect(large.result?.sent).toMatchObject({
      as: 'link',
      note: 'the file has 6 KB, more than 1 KB',
    });
    const text = mail.mails[1]?.source.replaceAll('=\r\n', '');
    expect(text).toContain('It is not attached: the file has 6 KB, more than 1 KB.');
    expect(large.logs.map(({ level }) => level)).toEqual(['info', 'warn']);
  });

  it('is a link in a chat, with an escaped title', async () => {
    const { result } = await runJob(job(), params({ channel: 'chat', as: 'attachment' }));
    expect(result?.sent).toMatchObject({ as: 'link', note: 'the channel has no attachments' });
    const { text } = JSON.parse(chat.received[0]?.body ?? '{}') as { text: string };
    expect(text).toContain('Sales &amp; &lt;more&gt;: 500 rows');
    expect(text).toContain(`\n${result?.link}\n`);
  });

  it('is not made again when its sending failed, and each recipient gets it once', async () => {
    const to = ['ada@example.com', 'bob@busy.example', 'eve@example.com'];
    const first = await runJob(job(), params({ channel: 'mail', to }));
    expect(first).toMatchObject({ status: 'retrying', nextInMs: 30_000 });
    const send = { channel: 'mail', to: [to[0] ?? '', 'bob@example.com', to[2] ?? ''] };
    const again = await runJob(job(), params(send), { after: first });
    expect(again.result?.sent?.receipts).toHaveLength(3);
    expect(mail.mails.flatMap((one) => one.to)).toEqual([to[0], 'bob@example.com', to[2]]);
    expect(queries).toBe(1);
    expect(await readdir(storage)).toHaveLength(1);
  });

  it('is refused before its query when it cannot be sent', async () => {
    for (const [send, words, more] of [
      [{ channel: 'mial', to: 'a@example.com' }, 'did you mean "mail"?', {}],
      [{ channel: 'mail' }, 'needs "to"', {}],
      [{ channel: 'mail', to: 'a@example.com' }, 'needs the option link', { link: undefined }],
    ] as const) {
      const run = await runJob(job(more), params(send));
      expect([run.status, run.error?.message]).toEqual(['failed', expect.stringContaining(words)]);
    }
    vi.stubEnv('LINK_SECRET', 'short');
    const short = await runJob(job(), { report: 'sales' });
    expect(short.error?.message).toContain('at least 16 characters');
    expect(queries).toBe(0);
  });
});

describe('a report in S3', () => {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3Server();
  });
  afterAll(async () => await s3.stop());
  beforeEach(() => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', SECRET_KEY);
    storage = `s3://${BUCKET}/reports?endpoint=${s3.endpoint}&region=eu-central-1`;
  });

  it('is there as a whole or not at all, also after a failure', async () => {
    s3.down = true;
    const failed = await runJob(job(), { report: 'sales' });
    expect(failed.status).toBe('retrying');
    expect(failed.error?.message).toContain('the storage s3://artifacts/reports/ fails');
    s3.down = false;
    const send = { channel: 'mail', to: 'ada@example.com', as: 'attachment' } as const;
    const { result } = await runJob(job(), params(send), { after: failed });
    const opened = await openStorage(storage);
    const names: string[] = [];
    for await (const name of opened.reports()) names.push(name);
    expect(names).toEqual([result?.name]);
    expect(await opened.head(result?.name ?? '')).toEqual({ bytes: result?.bytes });
    expect(mail.mails).toHaveLength(1);
    opened.close();
  });
});
