import { expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';
import { json, playAnswers } from '../../test/support/servers/playing-server.ts';

const ALERT = {
  status: 'firing',
  rule: 'no-worker',
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
  expect(listed.stdout.split('\n')[0]).toBe('STATUS  RULE       DEFINITION  SINCE  MESSAGE');
  expect(listed.stdout).toContain(ALERT.message);
  const none = await run(['alerts', 'list', '--all', '--rule', 'stuck', '--url', url]);
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'No alerts.\n' });
  expect((await run(['alerts', 'rules', '--url', url])).stdout).toMatch(
    /dead-letters +all +off +3 jobs +- +api/,
  );
  const flags = ['--definition-key', 'report', '--threshold', '3', '--window-seconds', '3600'];
  const set = await run(['alerts', 'set', 'dead-letters', ...flags, '--on', '--url', url]);
  expect(set.stdout).toMatch(/dead-letters +report +on +3 jobs +3600 s +api/);
  const unset = ['alerts', 'unset', 'dead-letters', '--definition-key', 'report', '--url', url];
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

test('a rule that is none is refused with the nearest one', async () => {
  expect(await run(['alerts', 'set', 'dead-leters', '--off'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "dead-letters"?') as string,
  });
});
