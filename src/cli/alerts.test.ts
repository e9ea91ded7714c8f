import { expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';
import { json, playAnswers } from '../../test/support/servers/playing-server.ts';

const ID = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
const ALERT = {
  id: ID,
  silenced: null,
  status: 'firing',
  rule: 'unserved',
  definitionKey: 'report',
  since: '2030-01-01T00:00:00.000Z',
  message: 'a job of report has been queued for 300 s, and no live worker has its definition',
};
const RULE = {
  rule: 'dead-letters',
  definitionKey: 'report',
  enabled: true,
  threshold: 3,
  unit: 'jobs',
  windowSeconds: 3_600,
  severity: 'warning',
  source: 'api',
  description: 'Jobs that failed.',
};

test('alone it lists what fires, and rules are set and taken back', async () => {
  const { url, seen } = await playAnswers(
    json(200, { alerts: [ALERT], nextCursor: null }),
    json(200, { alerts: [], nextCursor: null }),
    json(200, { rules: [{ ...RULE, definitionKey: null, windowSeconds: null, enabled: false }] }),
    json(200, RULE),
    json(204, null),
  );
  const listed = await run(['alerts', '--url', url]);
  expect(listed.stdout.split('\n')[0]).toMatch(/^ID +STATUS +RULE +DEFINITION +SINCE +MESSAGE$/);
  expect(listed.stdout).toContain(ALERT.message);
  const none = await run(['alerts', 'list', '--all', '--rule', 'stuck', '--url', url]);
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No alerts.\n' });
  expect((await run(['alerts', 'rules', '--url', url])).stdout).toMatch(
    /dead-letters +all +off +3 jobs +- +warning +api/,
  );
  const flags = ['--definition', 'report', '--threshold', '3', '--window-seconds', '3600'];
  const set = await run(['alerts', 'set', 'dead-letters', ...flags, '--on', '--url', url]);
  expect(set.stdout).toMatch(/dead-letters +report +on +3 jobs +3600 s +warning +api/);
  const unset = ['alerts', 'unset', 'dead-letters', '--definition', 'report', '--url', url];
  expect((await run(unset)).stdout).toBe('dead-letters\n');
  const rule = '/v1/alerts/rules/dead-letters';
  expect(seen.map(({ method, url: path, body }) => [`${method} ${path}`, body ?? null])).toEqual([
    ['GET /v1/alerts?status=firing', null],
    ['GET /v1/alerts?rule=stuck', null],
    ['GET /v1/alerts/rules', null],
    [`PUT ${rule}`, { definitionKey: 'report', threshold: 3, windowSeconds: 3_600, enabled: true }],
    [`DELETE ${rule}?definitionKey=report`, null],
  ]);
});

test('an alert is silenced for a time or until it is resolved, by a part of its id', async () => {
  const until = '2030-01-01T01:00:00.000Z';
  const silenced = { ...ALERT, silenced: { until, by: 'cli' } };
  const { url, seen } = await playAnswers(
    json(200, silenced),
    json(200, { alerts: [silenced], nextCursor: null }),
    json(200, { ...ALERT, silenced: { until: null, by: 'cli' } }),
    json(200, ALERT),
    json(200, { alerts: [silenced], nextCursor: null }),
  );
  const hour = await run(['alerts', 'silence', ID, '--for', '1h', '--url', url]);
  expect(hour).toMatchObject({ stdout: `${ID}\n`, stderr: `Silenced until ${until}.\n` });
  const whole = await run(['alerts', 'silence', '3c2e1400', '--url', url]);
  expect(whole.stderr).toBe('Silenced until it is resolved.\n');
  expect((await run(['alerts', 'unsilence', ID, '--url', url])).code).toBe(0);
  expect((await run(['alerts', '--url', url])).stdout).toContain('firing, silenced');
  const path = `/v1/alerts/${ID}/silence`;
  expect(seen.map(({ method, url: at, body }) => [`${method} ${at}`, body ?? null])).toEqual([
    [`PUT ${path}`, { seconds: 3_600 }],
    ['GET /v1/alerts?status=firing&limit=200', null],
    [`PUT ${path}`, { seconds: null }],
    [`DELETE ${path}`, null],
    ['GET /v1/alerts?status=firing', null],
  ]);
  expect((await run(['alerts', 'silence', ID, '--for', 'soon'])).stderr).toContain('like 30m');
});

test('a rule that is none is refused with the nearest one', async () => {
  expect(await run(['alerts', 'set', 'dead-leters', '--off'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "dead-letters"?') as string,
  });
});

const ROUTE = {
  name: 'on-call',
  channel: 'slack',
  to: [],
  urlHost: 'hooks.slack.com',
  enabled: true,
  rules: ['stuck', 'vacuum'],
  owners: null,
  definitionKeys: null,
  groupSeconds: 60,
  quietHours: { from: '22:00', to: '07:00', timezone: 'UTC', days: ['sat', 'sun'] },
};
const BY_MAIL = { channel: 'email', to: ['a@x', 'b@x'], urlHost: null, quietHours: null };
const MESSAGE = {
  id: '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400',
  route: 'on-call',
  kind: 'test',
  subject: 'Test',
  createdAt: '2030-01-01T00:00:00.000Z',
};

test('routes are set, listed and deleted', async () => {
  const { url, seen } = await playAnswers(
    json(200, ROUTE),
    json(200, { ...ROUTE, ...BY_MAIL, warnings: ['no mail server'] }),
    json(200, { routes: [] }),
    json(204, null),
  );
  const chat = ['--chat', 'slack', '--chat-url-file', '-', '--rule', 'stuck,vacuum', '--off'];
  const quiet = ['--quiet-hours', '22:00-07:00', '--quiet-day', 'sat,sun'];
  const set = await run(['alerts', 'route', 'on-call', ...chat, ...quiet, '--url', url], {
    stdin: 'https://hooks.slack.com/secret\n',
  });
  expect(set.stdout).toMatch(/on-call +slack +hooks\.slack\.com +on +stuck,vacuum +all +all +60 s/);
  expect(set.stdout).toContain('22:00-07:00 UTC on sat, sun');
  const mail = ['--email', 'a@x', '--email', 'b@x', '--owner', 'team-a', '--group-seconds', '0'];
  const mailed = await run(['alerts', 'route', 'on-call', ...mail, '--url', url]);
  expect(mailed.stdout).toContain('a@x,b@x');
  expect(mailed.stderr).toBe('warning: no mail server\n');
  expect((await run(['alerts', 'routes', '--url', url])).stderr).toBe('No routes.\n');
  const gone = await run(['alerts', 'unroute', 'on-call', '--yes', '--url', url]);
  expect(gone.stdout).toBe('on-call\n');
  const path = '/v1/alerts/routes/on-call';
  expect(seen.map(({ method, url: to, body }) => [`${method} ${to}`, body ?? null])).toEqual([
    [
      `PUT ${path}`,
      {
        channel: 'slack',
        url: 'https://hooks.slack.com/secret',
        rules: ['stuck', 'vacuum'],
        quietHours: { from: '22:00', to: '07:00', days: ['sat', 'sun'] },
        enabled: false,
      },
    ],
    [
      `PUT ${path}`,
      {
        channel: 'email',
        to: ['a@x', 'b@x'],
        owners: ['team-a'],
        groupSeconds: 0,
        enabled: true,
      },
    ],
    ['GET /v1/alerts/routes', null],
    [`DELETE ${path}`, null],
  ]);
});

test.each([
  [{ status: 200, error: null }, 'delivered', 0, 'delivered\n', ''],
  [{ status: null, error: 'no SMTP' }, 'failed', 1, 'failed\n', 'no SMTP\n'],
])('a test waits for the answer: %j', async (send, status, code, stdout, stderr) => {
  const finishedAt = '2030-01-01T00:00:01.000Z';
  const ended = { ...MESSAGE, status, attempts: [send], finishedAt };
  const { url } = await playAnswers(
    json(202, { messageId: MESSAGE.id }),
    json(200, { messages: [{ ...MESSAGE, status: 'pending', attempts: [], finishedAt: null }] }),
    json(200, { messages: [ended], nextCursor: null }),
    json(200, { messages: [ended], nextCursor: null }),
  );
  expect(await run(['alerts', 'test', 'on-call', '--url', url])).toMatchObject({
    code,
    stdout,
    stderr,
  });
  const listed = await run(['alerts', 'messages', 'on-call', '--url', url]);
  expect(listed.stdout).toMatch(new RegExp(`${MESSAGE.id} +${status} +test`));
});

test.each([
  [[], 'give --email or --chat'],
  [['--email', 'a@x', '--timezone', 'UTC'], 'need --quiet-hours'],
  [['--email', 'a@x', '--quiet-hours', '22'], 'Must look like 22:00-07:00.'],
  [['--chat', 'slak'], 'did you mean "slack"?'],
])('a route with %j is refused', async (flags, words) => {
  const refused = await run(['alerts', 'route', 'on-call', ...flags]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(words) as string });
});
