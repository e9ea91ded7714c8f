import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AlertRuleName } from '../../../src/core/alert/alert.ts';
import type { Firing } from '../../../src/core/alert/alert-rules.ts';
import type { AlertMessageView, AlertRouteSpec } from '../../../src/core/alert/route.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { fireAlerts, pruneAlerts, resolveAlerts } from '../../../src/store/alerts/fire-alerts.ts';
import { listAlerts } from '../../../src/store/alerts/alerts.ts';
import { endSilence, silenceAlert } from '../../../src/store/alerts/silence-alerts.ts';
import { listMessages, makeTestMessage } from '../../../src/store/alerts/messages.ts';
import { sendNotices } from '../../../src/store/alerts/notices.ts';
import { deleteRoute, saveRoute } from '../../../src/store/alerts/routes.ts';
import { alertMessageJob } from '../../../src/webhooks/alert-message.ts';
import { guardedDialer } from '../../../src/webhooks/dialer.ts';
import { Networks } from '../../../src/webhooks/networks.ts';
import { type MailServer, startMailServer } from '../../support/providers/mail-server.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { type Receiver, startReceiver, status } from '../../support/servers/receiver.ts';
import { scheduling, type TestWorker, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';
import { BY, makeDue } from '../../support/webhooks.ts';

/** Alerts that fire and are resolved, to a real mail server and a real receiver of chat messages. */

const database = sharedDatabase();
const UNKNOWN = '01980000-0000-7000-8000-000000000000';

let mail: MailServer;
let chat: Receiver;
let worker: TestWorker;
let stopScheduling: () => Promise<void>;

const OWNED = defineJob({
  key: 'billing.charge',
  owner: 'team-billing',
  runbookUrl: 'https://wiki.example.com/charge',
  isolation: 'inline',
  run: () => undefined,
});

beforeAll(async () => {
  mail = await startMailServer();
  chat = await startReceiver();
  const dialer = guardedDialer(new Networks(['127.0.0.0/8']));
  const sends = alertMessageJob({
    db: database.db,
    clock: systemClock,
    dialer,
    smtpUrl: mail.url,
    alertFrom: 'longshore@example.com',
    publicUrl: 'https://jobs.example.com',
  });
  worker = workerOn(database, { jobs: [OWNED], builtIn: { definitions: [sends], slots: 5 } });
  await worker.worker.start();
  stopScheduling = await scheduling(database);
});
afterAll(async () => {
  await stopScheduling();
  await worker.stop();
  await chat.close();
  await mail.close();
});
afterEach(async () => {
  await database.sql('delete from longshore.alert_route');
  await database.sql('delete from longshore.alert');
  mail.mails.length = 0;
  chat.received.length = 0;
  chat.answerWith(status(200, {}, 'ok'));
});

const TO_ALL: AlertRouteSpec = {
  channel: 'email',
  to: ['oncall@example.com'],
  rules: null,
  owners: null,
  definitionKeys: null,
  quietHours: null,
  groupSeconds: 0,
  enabled: true,
};

async function route(name: string, changes: Partial<AlertRouteSpec> = {}): Promise<void> {
  const spec = { ...TO_ALL, ...changes };
  const url = spec.channel === 'email' ? null : chat.url;
  const to = spec.channel === 'email' ? spec.to : [];
  const saved = await saveRoute(database.db, BY, 'default', name, { ...spec, to }, url);
  expect(saved).toMatchObject({ name, urlHost: url === null ? null : new URL(url).host });
}

const firing = (
  definitionKey: string,
  rule: AlertRuleName = 'dead-letters',
  severity: Firing['severity'] = 'warning',
): Firing => ({
  rule,
  tenant: 'default',
  definitionKey,
  subject: definitionKey,
  severity,
  scheduleId: null,
  jobId: null,
  value: 12,
  threshold: 10,
  message: `12 jobs of ${definitionKey} failed for good`,
});

/** Fires them, and says so to those whose time has come. */
async function fire(...alerts: Firing[]): Promise<number> {
  await fireAlerts(database.db, alerts);
  return await sendNotices(database.db);
}

async function resolveAll(): Promise<number> {
  await database.sql(`update longshore.alert set seen_at = seen_at - interval '1 hour'`);
  await resolveAlerts(database.db, 60_000, 100);
  return await sendNotices(database.db);
}

const messagesOf = async (name: string): Promise<AlertMessageView[]> =>
  (await listMessages(database.db, 'default', name, { afterId: null, limit: 50 })).messages;

const newest = async (name: string, wanted: AlertMessageView['status'], sends = 1) =>
  await until(`${name} is ${wanted} after ${sends}`, async () => {
    const [message] = await messagesOf(name);
    return message?.status === wanted && message.attempts.length === sends ? message : null;
  });

const mails = async (count: number) =>
  await until(`${count} mails`, () => mail.mails.length >= count && mail.mails);

/** The subject and the lines of a mail. */
function readMail(source: string): { subject: string; lines: string[] } {
  const [head = '', ...body] = source.split('\r\n\r\n');
  const text = body.join('\n\n').replaceAll('=\r\n', '').replaceAll('\r\n', '\n');
  return { subject: /^Subject: (.*)$/m.exec(head)?.[1] ?? '', lines: text.trim().split('\n') };
}

const chatTexts = () =>
  chat.received.map(({ body }) => (JSON.parse(body) as { text: string }).text);

describe('an alert', () => {
  it('arrives as an e-mail and as a chat message with its facts, and once more when it is over', async () => {
    await route('mail');
    await route('chat', { channel: 'slack' });
    expect(await fire(firing('billing.charge'))).toBe(2);
    await newest('mail', 'delivered');
    await newest('chat', 'delivered');
    const [one] = await mails(1);
    expect([one?.from, one?.to]).toEqual(['longshore@example.com', ['oncall@example.com']]);
    const { subject, lines } = readMail(one?.source ?? '');
    expect(subject).toBe('[Longshore] Alert: dead-letters: billing.charge');
    expect(lines).toEqual([
      '12 jobs of billing.charge failed for good',
      expect.stringMatching(/^since: \d{4}-/),
      'definition: billing.charge',
      'owner: team-billing',
      'runbook: https://wiki.example.com/charge',
      'link: https://jobs.example.com/ui/definitions/billing.charge',
    ]);
    expect(chatTexts()).toEqual([['*Alert: dead-letters: billing.charge*', ...lines].join('\n')]);
    // The same problem again is nothing new.
    expect(await fire(firing('billing.charge'))).toBe(0);

    expect(await resolveAll()).toBe(2);
    const [, two] = await mails(2);
    expect(readMail(two?.source ?? '').subject).toBe(
      '[Longshore] Resolved: dead-letters: billing.charge',
    );
    await until('the chat knows', () => chat.received.length === 2);
    expect(chatTexts()[1]).toContain('Resolved: 12 jobs of billing.charge failed for good');
    expect(await sendNotices(database.db)).toBe(0);
    expect((await messagesOf('mail')).map((message) => message.subject)).toEqual([
      'Resolved: dead-letters: billing.charge',
      'Alert: dead-letters: billing.charge',
    ]);
  });

  it('is made into one message by schedulers that work at the same time', async () => {
    await route('mail');
    const others = [1, 2, 3, 4].map(() =>
      Db.open({ clock: systemClock, url: database.url, log: silentLog, max: 2 }),
    );
    onTestFinished(async () => {
      for (const other of others) await other.close();
    });
    await fireAlerts(database.db, [firing('a')]);
    await Promise.all(others.map(async (other) => await sendNotices(other)));
    await database.sql(`update longshore.alert set seen_at = seen_at - interval '1 hour'`);
    await Promise.all(others.map(async (other) => await resolveAlerts(other, 60_000, 100)));
    await Promise.all(others.map(async (other) => await sendNotices(other)));
    expect((await messagesOf('mail')).map(({ subject }) => subject)).toEqual([
      'Resolved: dead-letters: a',
      'Alert: dead-letters: a',
    ]);
  });

  it('goes only to routes whose filters it passes', async () => {
    await route('owned', { owners: ['team-billing'] });
    await route('foreign', { owners: ['team-other'] });
    await route('rules', { rules: ['stuck', 'dead-letters'] });
    await route('other-rules', { rules: ['vacuum'] });
    await route('definition', { definitionKeys: ['billing.charge'] });
    await route('off', { enabled: false });
    expect(await fire(firing('billing.charge'))).toBe(3);
    expect(await fire(firing('unowned'))).toBe(1);
    for (const [name, count] of [
      ['owned', 1],
      ['rules', 2],
      ['definition', 1],
      ['foreign', 0],
      ['other-rules', 0],
      ['off', 0],
    ] as const) {
      expect([name, (await messagesOf(name)).length]).toEqual([name, count]);
    }
    // A route that was added later did not say that they fire, so it does not say that they are over.
    await route('late');
    await resolveAll();
    expect(await messagesOf('late')).toEqual([]);
  });

  it('waits for others of its rule, which are one message', async () => {
    await route('mail', { groupSeconds: 600 });
    expect(await fire(firing('a'), firing('b'), firing('c', 'stuck'))).toBe(0);
    await database.sql(`update longshore.alert_route_notice set due_at = now() where alert_id in (
      select id from longshore.alert where definition_key = 'a')`);
    expect(await sendNotices(database.db)).toBe(1);
    const message = await newest('mail', 'delivered');
    expect(message.subject).toBe('2 alerts: dead-letters');
    expect(message.text).toContain('12 jobs of a failed');
    expect(message.text).toContain('12 jobs of b failed');
    // One that ends before its group is sent is mentioned once, as both.
    await resolveAll();
    await database.sql(
      'update longshore.alert_route_notice set due_at = now() where due_at is not null',
    );
    expect(await sendNotices(database.db)).toBe(2);
    expect((await messagesOf('mail')).map(({ subject }) => subject).sort()).toEqual([
      '2 alerts: dead-letters',
      '2 resolved: dead-letters',
      'Fired and resolved: stuck: c',
    ]);
  });

  it('is held back in quiet hours unless it is critical, and follows in a summary', async () => {
    // Quiet around now, in a time zone without clock changes.
    const at = (hours: number) =>
      `${String((new Date().getUTCHours() + 24 + hours) % 24).padStart(2, '0')}:00`;
    const quietHours = { from: at(-2), to: at(3), timezone: 'UTC', days: null };
    await route('mail', { quietHours });
    expect(await fire(firing('a'), firing('b', 'stuck'), firing('c', 'stuck', 'critical'))).toBe(1);
    expect((await newest('mail', 'delivered')).subject).toBe('Critical alert: stuck: c');
    expect(await sendNotices(database.db)).toBe(0);
    await database.sql(`update longshore.alert set seen_at = seen_at - interval '1 hour'
      where definition_key = 'b'`);
    await resolveAlerts(database.db, 60_000, 100);
    expect(await sendNotices(database.db)).toBe(0);
    // The quiet hours end.
    await database.sql(`update longshore.alert_route set quiet_hours = jsonb_set(jsonb_set(quiet_hours,
      '{from}', '"${at(3)}"'), '{to}', '"${at(5)}"')`);
    expect(await sendNotices(database.db)).toBe(1);
    const [summary] = await messagesOf('mail');
    expect(summary).toMatchObject({
      kind: 'summary',
      subject: 'After quiet hours: 1 alert, 1 fired and resolved',
    });
    expect(await sendNotices(database.db)).toBe(0);
  });

  it('is forgotten with its notices', async () => {
    await route('mail');
    await fire(firing('a'));
    await resolveAll();
    await database.sql(`update longshore.alert set resolved_at = now() - interval '8 days'`);
    expect(await pruneAlerts(database.db, 7, 10)).toBe(1);
    expect(await database.sql('select from longshore.alert_route_notice')).toEqual([]);
  });
});

describe('a silence', () => {
  const idOf = async () => (await listed())[0]?.id ?? '';
  const listed = async () => {
    const all = { status: null, rule: null, definitionKey: null, afterId: null, limit: 10 };
    return (await listAlerts(database.db, 'default', all)).alerts;
  };

  it('keeps an alert in the list and sends nothing about it, also when it is resolved', async () => {
    await route('oncall', { groupSeconds: 60 });
    expect(await fire(firing('a'))).toBe(0);
    const id = await idOf();
    await silenceAlert(database.db, BY, 'default', id, null);
    expect((await listed())[0]).toMatchObject({ silenced: { until: null, by: BY.name } });
    expect(await fire(firing('a'))).toBe(0);
    expect(await resolveAll()).toBe(0);
    expect(await messagesOf('oncall')).toEqual([]);
    expect(await silenceAlert(database.db, BY, 'default', id, 60)).toBeNull();
    const [row] = await database.sql(
      `select action, actor from longshore.audit where subject = '${id}'`,
    );
    expect(row).toEqual({ action: 'alert.silence', actor: BY.name });
  });

  it('holds until its end for an alert that fires again, and then the message is sent', async () => {
    await route('oncall');
    expect(await fire(firing('a'))).toBe(1);
    await silenceAlert(database.db, BY, 'default', await idOf(), 3_600);
    expect(await resolveAll()).toBe(0);
    expect(await fire(firing('a'), firing('b'))).toBe(1);
    const silent = (await listed()).filter(({ silenced }) => silenced !== null);
    expect(silent.map(({ status, definitionKey }) => `${status} ${definitionKey}`).sort()).toEqual([
      'firing a',
      'resolved a',
    ]);
    await database.sql(`update longshore.alert set silenced_until = now() - interval '1 s'
      where silenced_until is not null`);
    await database.sql(
      `update longshore.alert_route_notice set due_at = now() where due_at > now()`,
    );
    expect(await sendNotices(database.db)).toBe(1);
  });

  it('can be ended, and what was not sent is sent then', async () => {
    await route('oncall', { groupSeconds: 60 });
    await fire(firing('a'));
    const id = await idOf();
    await silenceAlert(database.db, BY, 'default', id, null);
    expect(await endSilence(database.db, BY, 'default', id)).toMatchObject({ silenced: null });
    expect(await sendNotices(database.db)).toBe(1);
    expect(await endSilence(database.db, BY, 'default', UNKNOWN)).toBeNull();
  });
});

describe('a message', () => {
  it('is sent again after a failure, and shows what its receiver answered', async () => {
    chat.answerWith(status(503, {}, 'not now'));
    await route('chat', { channel: 'slack' });
    await fire(firing('a'));
    const failed = await newest('chat', 'retrying');
    expect(failed.attempts).toMatchObject([{ status: 503, responseBody: 'not now' }]);
    expect(failed.nextAttemptAt).not.toBeNull();
    chat.answerWith(status(200, {}, 'ok'));
    await makeDue(database, failed.id);
    const message = await newest('chat', 'delivered', 2);
    expect(message.attempts.map((send) => send.status)).toEqual([503, 200]);
  });

  it('fails at once when the mail server refuses its recipients for good', async () => {
    await route('mail', { to: ['someone@gone.example'] });
    await fire(firing('a'));
    const { attempts } = await newest('mail', 'failed');
    expect(attempts).toMatchObject([
      { status: null, error: expect.stringContaining('550') as string },
    ]);
  });

  it('reaches the recipients that the mail server accepts', async () => {
    await route('mail', { to: ['someone@gone.example', 'oncall@example.com'] });
    await fire(firing('a'));
    const { attempts } = await newest('mail', 'delivered');
    expect(attempts[0]?.responseBody).toContain('refused: someone@gone.example');
    expect(mail.mails.map(({ to }) => to)).toEqual([['oncall@example.com']]);
  });

  it('is not sent to an address that is not allowed', async () => {
    await route('chat', { channel: 'teams' });
    await database.sql(`update longshore.alert_route set url = 'http://169.254.169.254/latest'`);
    await fire(firing('a'));
    const { attempts } = await newest('chat', 'retrying');
    expect(attempts).toMatchObject([{ error: 'the address is not allowed for webhooks' }]);
  });

  it('ends with its route', async () => {
    chat.answerWith(status(503));
    await route('chat', { channel: 'discord' });
    await fire(firing('a'));
    const { id } = await newest('chat', 'retrying');
    expect(await deleteRoute(database.db, BY, 'default', 'chat')).toBe(true);
    await makeDue(database, id);
    await until('it ends', async () => {
      const ended = await database.sql<{ error_code: string }>(
        'select error_code from longshore.done where id = $1',
        [id],
      );
      return ended[0]?.error_code === 'NON_RETRYABLE';
    });
  });

  it('can be tried, also by a route that is off', async () => {
    await route('mail', { enabled: false });
    const id = await makeTestMessage(database.db, BY, 'default', 'mail');
    expect(await newest('mail', 'delivered')).toMatchObject({ id, kind: 'test', subject: 'Test' });
    const [one] = await mails(1);
    expect(readMail(one?.source ?? '').lines).toEqual(['Longshore can send alerts here.']);
    expect(await makeTestMessage(database.db, BY, 'default', 'none')).toBeNull();
  });
});
