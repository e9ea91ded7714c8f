import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startJob } from '../../support/api.ts';
import { endAll, FIXTURES, launch, run } from '../../support/processes.ts';
import { type MailServer, startMailServer } from '../../support/providers/mail-server.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { type Receiver, startReceiver, status } from '../../support/servers/receiver.ts';
import { until } from '../../support/until.ts';

/** A planted problem in a real cluster: what a person on call receives. */

let folder: string;
let database: TestDatabase;
let mail: MailServer;
let chat: Receiver;

beforeEach(async () => {
  folder = await quickFolder('longshore-alerts-');
  database = await testDatabase();
  mail = await startMailServer();
  chat = await startReceiver();
  chat.answerWith(status(200, {}, 'ok'));
});
afterEach(async () => {
  await endAll();
  await chat.close();
  await mail.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const subjectOf = (source = '') => /^Subject: (.*)$/m.exec(source)?.[1]?.trim();
const textOf = ({ body }: { body: string }) => (JSON.parse(body) as { text: string }).text;

it('an e-mail and a chat message arrive when it begins, and one each when it is over', async () => {
  const keyFile = join(folder, 'keys');
  await writeFile(keyFile, `e2e:${randomBytes(32).toString('base64')}\n`);
  const smtpFile = join(folder, 'smtp');
  await writeFile(smtpFile, `${mail.url}\n`);
  const env = {
    DATABASE_URL: database.url,
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'alerts'),
    LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
    LONGSHORE_ENCRYPTION_KEYS_FILE: keyFile,
    LONGSHORE_SMTP_URL_FILE: smtpFile,
    LONGSHORE_ALERT_FROM: 'longshore@example.com',
    LONGSHORE_PUBLIC_URL: 'https://jobs.example.com',
    LONGSHORE_ALERTS: 'dead-letters=2',
  };
  const { address } = (await launch('api', { env })).summary;
  const longshore = async (...args: string[]) => {
    const { code, stdout, stderr } = await run([...args, '--url', address]);
    expect({ args, code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  };
  const group = ['--group-seconds', '0', '--owner', 'team-billing'];
  await longshore('alerts', 'route', 'on-call', '--email', 'oncall@example.com', ...group);
  const url = `${chat.url}?token=canary-of-the-url`;
  await longshore('alerts', 'route', 'chat', '--chat', 'slack', '--chat-url', url, ...group);
  expect(await longshore('alerts', 'routes')).not.toContain('canary');
  const [stored] = await database.sql<{ url: string }>(
    `select url from longshore.alert_route where name = 'chat'`,
  );
  expect(stored?.url).not.toContain('canary');

  const worker = await launch('worker', { env });
  await launch('scheduler', { env });
  expect((await longshore('alerts', 'test', 'on-call')).trim()).toBe('delivered');
  expect(subjectOf(mail.mails[0]?.source)).toBe('[Longshore] Test');

  const jobs = [await startJob(address, 'billing.charge', {})];
  jobs.push(await startJob(address, 'billing.charge', {}));
  const fired = await until('both were notified', () => {
    const [, one] = mail.mails;
    const [message] = chat.received;
    return one && message && { mail: one, text: textOf(message) };
  });
  expect(fired.mail).toMatchObject({ from: 'longshore@example.com', to: ['oncall@example.com'] });
  expect(subjectOf(fired.mail.source)).toBe('[Longshore] Alert: dead-letters: billing.charge');
  for (const fact of [
    '2 jobs of billing.charge failed for good within 1h (threshold 2)',
    'since: ',
    'owner: team-billing',
    'runbook: https://wiki.example.com/charge',
    'link: https://jobs.example.com/ui/jobs/',
  ]) {
    expect(fired.text).toContain(fact);
    expect(fired.mail.source.replaceAll('=\r\n', '')).toContain(fact);
  }

  // The problem is over: its dead letters are gone, and no measurement finds them for a minute.
  for (const id of jobs) await longshore('delete', id, '--yes');
  const over = await until(
    'both were notified that it is over',
    async () => {
      await database.sql(
        `update longshore.alert set seen_at = now() - interval '2 minutes' where resolved_at is null`,
      );
      const [, , one] = mail.mails;
      const [, message] = chat.received;
      return one && message && { mail: one, text: textOf(message) };
    },
    120_000,
  );
  expect(subjectOf(over.mail.source)).toBe('[Longshore] Resolved: dead-letters: billing.charge');
  expect(over.text).toContain('*Resolved: dead-letters: billing.charge*');
  expect(over.text).toContain('resolved: ');
  expect([mail.mails.length, chat.received.length]).toEqual([3, 2]);
  const messages = await longshore('alerts', 'messages', 'on-call');
  expect(messages.match(/delivered/g)).toHaveLength(3);
  expect(worker.stderr()).not.toContain('canary');
});
