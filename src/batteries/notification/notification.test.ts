import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  discordAnswer,
  fcmAccount,
  fcmAnswer,
  type Reply,
  slackAnswer,
  teamsAnswer,
  TWILIO,
  twilioAnswer,
} from '../../../test/support/providers/providers.ts';
import { type MailServer, startMailServer } from '../../../test/support/providers/mail-server.ts';
import {
  type Received,
  type Receiver,
  startReceiver,
} from '../../../test/support/servers/receiver.ts';
import { runJob } from '../../testing/run-job.ts';
import type { Channel } from './channel.ts';
import { chatWebhook, discord, slack, teams } from './chat.ts';
import { email } from './email.ts';
import { fcm } from './fcm.ts';
import { notification } from './notification.ts';
import { twilio } from './twilio.ts';

let receiver: Receiver;
let base: string;

beforeEach(async () => {
  receiver = await startReceiver();
  base = `http://127.0.0.1:${receiver.port}`;
  vi.stubEnv('CHAT_URL', receiver.url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await receiver.close();
});

function answerLike(provider: (request: Received) => Reply): void {
  receiver.answerWith((response, request) => {
    const { status, body } = provider(request);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

const job = (channel: Channel, more: object = {}) =>
  notification({ channels: { it: channel }, allow: ['127.0.0.0/8'], ...more });
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body) as object);
const HOSTILE = '<!channel> *b* & @everyone [x](http://evil)';

describe('chats', () => {
  it.each([
    [
      'Slack',
      slack,
      slackAnswer,
      { text: '*Late*\n&lt;!channel&gt; *b* &amp; @everyone [x](http://evil)' },
    ],
    [
      'Discord',
      discord,
      discordAnswer,
      {
        content:
          String.raw`**Late**` +
          '\n' +
          String.raw`\<!channel\> \*b\* & \@everyone \[x\]\(http://evil\)`,
        allowed_mentions: { parse: [] },
      },
    ],
    ['any other', chatWebhook, slackAnswer, { subject: 'Late', text: HOSTILE }],
  ] as const)('%s gets a message that cannot mention or link', async (_, chat, answer, body) => {
    answerLike(answer);
    const run = await runJob(job(chat({ url: 'CHAT_URL' })), {
      channel: 'it',
      subject: 'Late',
      text: HOSTILE,
    });
    expect(run).toMatchObject({ status: 'succeeded', result: { receipts: [{ to: null }] } });
    expect(bodies()).toMatchObject([body]);
  });

  it('Teams gets an Adaptive Card', async () => {
    answerLike(teamsAnswer);
    const run = await runJob(job(teams({ url: 'CHAT_URL' })), { channel: 'it', text: 'hello' });
    expect(run.result?.receipts).toMatchObject([{ status: 202 }]);
  });

  it('an empty message is refused by the chat, and not tried again', async () => {
    answerLike(slackAnswer);
    const run = await runJob(job(slack({ url: 'CHAT_URL' })), { channel: 'it', text: '' });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'NON_RETRYABLE' } });
  });

  it('a URL that is not set is named, and shown nowhere', async () => {
    const run = await runJob(job(slack({ url: 'OTHER_URL' })), { channel: 'it', text: 'x' });
    expect(run.error?.message).toContain('OTHER_URL is not set');
    expect(JSON.stringify(job(slack({ url: 'CHAT_URL' })).info)).not.toContain(receiver.url);
  });
});

describe('SMS by Twilio', () => {
  const sms = () =>
    twilio({ account: 'TWILIO_SID', token: 'TWILIO_TOKEN', from: '+15550100', baseUrl: base });
  beforeEach(() => {
    vi.stubEnv('TWILIO_SID', TWILIO.sid);
    vi.stubEnv('TWILIO_TOKEN', TWILIO.token);
    answerLike(twilioAnswer);
  });

  it('sends one message to each, and only to those that are left after a failure', async () => {
    const to = ['+491711234567', '0171', '+491717654321'];
    const first = await runJob(job(sms()), { channel: 'it', to, text: 'Grüße' });
    expect(first.error).toMatchObject({ code: 'NON_RETRYABLE' });
    expect(first.error?.message).toContain("The 'To' number 0171 is not a valid phone number");
    to[1] = '+491710000000';
    const again = await runJob(job(sms()), { channel: 'it', to, text: 'Grüße' }, { after: first });
    expect(again.result?.receipts).toMatchObject(
      to.map((number) => ({ to: number, status: 'queued' })),
    );
    const sent = receiver.received.map(({ body }) => new URLSearchParams(body).get('To'));
    expect(sent).toEqual(['+491711234567', '0171', '+491710000000', '+491717654321']);
  });

  it('a wrong token is an error of authentication', async () => {
    vi.stubEnv('TWILIO_TOKEN', 'wrong');
    const run = await runJob(job(sms()), { channel: 'it', to: '+491711234567', text: 'x' });
    expect(run).toMatchObject({ status: 'failed', error: { code: 'AUTHENTICATION_FAILED' } });
  });
});

describe('push by Firebase Cloud Messaging', () => {
  const push = () => job(fcm({ credentials: 'FCM', baseUrl: base }));
  beforeEach(() => {
    vi.stubEnv('FCM', fcmAccount(base));
    answerLike(fcmAnswer);
  });

  it('gets a token with a signed assertion, and sends', async () => {
    const run = await runJob(push(), { channel: 'it', to: 'device-1', subject: 'Late', text: 'x' });
    expect(run.result?.receipts).toMatchObject(
      [{ name: /^projects\/shop-1\/messages\// }].map(({ name }) => ({
        name: expect.stringMatching(name) as string,
      })),
    );
    const notification = { title: 'Late', body: 'x' };
    const last = receiver.received.at(-1)?.body ?? '';
    expect(JSON.parse(last)).toEqual({ message: { token: 'device-1', notification } });
  });

  it('a device that is gone is not tried again; wrong credentials are named', async () => {
    const gone = await runJob(push(), { channel: 'it', to: 'unregistered', text: 'x' });
    expect(gone).toMatchObject({ status: 'failed', error: { code: 'NOT_FOUND' } });
    vi.stubEnv('FCM', '{"project_id":"shop-1"}');
    const wrong = await runJob(push(), { channel: 'it', to: 'device-1', text: 'x' });
    expect(wrong.error?.message).toContain('client_email, private_key, token_uri missing');
  });
});

describe('e-mail', () => {
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer();
  });
  afterAll(async () => await server.close());
  beforeEach(() => {
    vi.stubEnv('SMTP_URL', server.url);
    server.mails.length = 0;
  });
  const templates = {
    welcome: { subject: 'Hello {{name}}', text: 'Hello {{name}}!', html: '<b>{{name}}</b>' },
  };
  const mail = () =>
    job(email({ smtp: 'SMTP_URL', from: 'Shop <shop@example.com>' }), { templates });

  it('renders a template: values are escaped in HTML, and a subject stays one line', async () => {
    const data = { name: 'Ada <i>\r\nBcc: eve@example.com' };
    const to = ['ada@example.com', 'bob@example.com'];
    const run = await runJob(mail(), { channel: 'it', to, template: 'welcome', data });
    expect(run).toMatchObject({ status: 'succeeded' });
    expect(server.mails.map((one) => one.to)).toEqual([['ada@example.com'], ['bob@example.com']]);
    const [first] = server.mails;
    expect(first?.source).toMatch(/^From: Shop <shop@example.com>\r\n/m);
    expect(first?.source).toContain('Subject: Hello Ada <i> Bcc: eve@example.com');
    const [head = ''] = first?.source.split('\r\n\r\n') ?? [];
    expect(head).not.toMatch(/^Bcc:/m);
    expect(first?.source).toContain('<b>Ada &lt;i&gt;');
    expect(first?.source).toMatch(/^Message-ID: <[0-9a-f-]{36}@longshore>/m);
  });

  it.each([
    ['ada@gone.example', 'failed', 'NON_RETRYABLE'],
    ['ada@busy.example', 'retrying', 'UPSTREAM_5XX'],
  ])('%s: the job is %s', async (to, status, code) => {
    const run = await runJob(mail(), { channel: 'it', to, text: 'x' });
    expect(run).toMatchObject({ status, error: { code } });
  });

  it('a wrong password is an error of authentication, a missing server one of the network', async () => {
    vi.stubEnv('SMTP_URL', server.url.replace('mail-password', 'wrong'));
    const wrong = await runJob(mail(), { channel: 'it', to: 'a@example.com', text: 'x' });
    expect(wrong.error).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
    await receiver.close();
    vi.stubEnv('SMTP_URL', `smtp://127.0.0.1:${receiver.port}`);
    const gone = await runJob(mail(), { channel: 'it', to: 'a@example.com', text: 'x' });
    expect(gone).toMatchObject({ status: 'retrying', error: { code: 'NETWORK_ERROR' } });
  });
});

describe('wrong params', () => {
  it.each([
    [{ channel: 'its', text: 'x' }, 'did you mean "it"'],
    [{ channel: 'it', text: 'x', to: 'a' }, 'leave out "to"'],
    [{ channel: 'it' }, 'give either text or template'],
    [{ channel: 'it', text: 'x', template: 'welcome' }, 'give either text or template'],
    [{ channel: 'it', template: 'wlcome' }, 'did you mean "welcome"'],
    [{ channel: 'it', template: 'welcome', data: {} }, 'data.name of the template'],
    [{ channel: 'it', text: 'x', to: 'a\r\nb' }, 'must be one line'],
  ])('%j are refused', async (params, words) => {
    const templates = { welcome: { text: 'Hello {{name}}' } };
    const run = await runJob(job(chatWebhook({ url: 'CHAT_URL' }), { templates }), params);
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain(words);
    expect(receiver.received).toEqual([]);
  });
});
