import { expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';
import {
  json,
  playAnswers,
  playBeside,
  problem,
} from '../../test/support/servers/playing-server.ts';

const NONE = {
  concurrencyLimit: null,
  concurrencyKeyLimit: null,
  rateLimit: null,
  keyRateLimit: null,
};
const PAUSE = {
  scope: 'tenant',
  name: 'acme',
  by: 'key:1',
  reason: 'a fire',
  since: '2030-01-01T00:00:00.000Z',
};

const ACME = { tenant: 'acme', concurrencyLimit: 4, inUse: 1, weight: 1, paused: null };

test('pause and resume name one thing, and --tenant only when it is typed', async () => {
  const { url, seen } = await playAnswers(
    json(200, { ...PAUSE, before: null }),
    json(200, { tenants: [] }),
    json(200, { resumed: null }),
    json(200, { ...PAUSE, scope: 'all', name: null, before: null }),
  );
  const env = { LONGSHORE_TENANT: 'other' };
  const paused = await run(['pause', '--tenant', 'acme', '--reason', 'a fire', '--url', url], {
    env,
  });
  expect(paused).toMatchObject({ code: 0, stdout: 'paused tenant acme\n' });
  const resumed = await run(['resume', '--definition', 'report', '--url', url], { env });
  expect(resumed).toMatchObject({ code: 0, stdout: '', stderr: 'Not paused.\n' });
  expect((await run(['pause', '--all', '--url', url], { env })).stdout).toBe('paused everything\n');
  expect(seen.map(({ url: path, body }) => [path, body ?? null])).toEqual([
    ['/v1/tenants/acme/pause', { reason: 'a fire' }],
    ['/v1/tenants', null],
    ['/v1/definitions/report/resume', null],
    ['/v1/pause', {}],
  ]);
  for (const wrong of [['pause'], ['pause', '--all', '--definition', 'report']]) {
    expect(await run(wrong, { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--definition KEY, --tenant NAME and --all'),
    });
  }
});

test('a second pause says who paused it before, and since when', async () => {
  const by = { by: 'alice', reason: 'schema fix running' };
  const { url } = await playAnswers(
    json(200, { ...PAUSE, ...by, before: { ...PAUSE, ...by } }),
    json(200, { ...PAUSE, before: { ...PAUSE, ...by } }),
  );
  const was = 'tenant acme was already paused 1m ago by alice: schema fix running';
  const again = await run(['pause', '--tenant', 'acme', '--url', url]);
  expect(again.stdout).toBe(`${was}\n`);
  const changed = await run(['pause', '--tenant', 'acme', '--reason', 'a fire', '--url', url]);
  expect(changed.stdout).toBe(`${was}; the reason is now: a fire\n`);
});

test('a resume says what was paused, why, how many jobs start, and what still holds them', async () => {
  const stats = json(200, {
    definitions: [
      { key: 'report', depth: 3 },
      { key: 'mail', depth: 4 },
    ],
  });
  const over = { ...PAUSE, scope: 'definition', name: 'report' };
  const { url } = await playBeside(
    {
      '/v1/tenants': json(200, { tenants: [{ tenant: 'default' }, { tenant: 'acme' }] }),
      '/v1/stats?tenant=default': stats,
      '/v1/stats?tenant=acme': stats,
      '/v1/definitions/report/resume': json(200, { resumed: over }),
    },
    json(200, { pauses: [] }),
    json(200, { pauses: [{ ...PAUSE, scope: 'all', name: null }] }),
  );
  const resume = ['resume', '--definition', 'report', '--url', url];
  const was = 'definition report was paused 1m ago by key:1: a fire\n';
  expect(await run(resume)).toMatchObject({
    stdout: 'resumed definition report\n',
    stderr: `${was}6 waiting jobs start.\n`,
  });
  expect((await run(resume)).stderr).toBe(
    `${was}Still paused: everything was paused 1m ago by key:1: a fire\n`,
  );
});

test('limits are listed with what is paused', async () => {
  const rateLimit = { limit: 100, perMs: 60_000, burst: 10 };
  const limits = { effective: { ...NONE, concurrencyLimit: 4, rateLimit, spread: 8 }, inUse: 2 };
  const { url } = await playAnswers(
    json(200, { definitions: [{ key: 'report', version: 1, limits, paused: null }] }),
    json(200, { pauses: [PAUSE] }),
    json(200, { tenants: [ACME] }),
  );
  const { stdout, stderr } = await run(['limits', 'list', '--url', url]);
  expect(stdout).toBe(
    'DEFINITION  IN USE  LIMIT  PER KEY  RATE       RATE PER KEY  SPREAD  PAUSED\n' +
      'report      2       4      -        100 in 1m  -             8       -\n' +
      '\n' +
      'TENANT  IN USE  LIMIT  WEIGHT  PAUSED\n' +
      'acme    1       4      1       -\n',
  );
  expect(stderr).toBe('tenant acme was paused 1m ago by key:1: a fire\n');
});

test('limits are set, lifted, and given back to the code', async () => {
  const { url, seen } = await playAnswers(
    json(200, { effective: { ...NONE, concurrencyKeyLimit: 1, spread: 4 } }),
    json(200, { ...ACME, weight: 3 }),
  );
  const flags = ['--concurrency-limit', 'none', '--rate-limit', 'code'];
  const more = ['--concurrency-key-limit', '1', '--key-rate-limit', '5/1000/2', '--spread', '4'];
  const set = await run(['limits', 'set', 'report', ...flags, ...more, '--url', url]);
  expect(set.stdout).toBe('report  -  1  -  -  4\n');
  const tenant = await run(['limits', 'tenant', 'acme', '--weight', '3', '--url', url]);
  expect(tenant.stdout).toBe('acme: at most 4 jobs at a time, weight 3\n');
  const keyRateLimit = { limit: 5, perMs: 1_000, burst: 2 };
  expect(seen.map(({ body }) => body)).toEqual([
    { concurrencyLimit: 0, rateLimit: null, concurrencyKeyLimit: 1, keyRateLimit, spread: 4 },
    { weight: 3 },
  ]);
  expect((await run(['limits', 'set', 'report'])).code).toBe(2);
  expect((await run(['limits', 'set', 'report', '--rate-limit', '5'])).code).toBe(2);
});

test.each([
  [['tenant', 'acme', '--concurrency-limit', '0'], 'pause --tenant NAME'],
  [['set', 'report', '--concurrency-limit', '0'], 'pause --definition KEY'],
  [['set', 'report', '--key-rate-limit', '0/1000'], 'pause --definition KEY'],
])('a limit of 0 is refused, because it would be none: %j', async (args, pause) => {
  const { code, stderr } = await run(['limits', ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain('0 would mean no limit: to remove the limit say none');
  expect(stderr).toContain(`longshore ${pause}`);
});

test('none removes the limit of a tenant', async () => {
  const { url, seen } = await playAnswers(json(200, { ...ACME, concurrencyLimit: null }));
  await run(['limits', 'tenant', 'acme', '--concurrency-limit', 'none', '--url', url]);
  expect(seen).toMatchObject([{ method: 'PATCH', body: { concurrencyLimit: 0 } }]);
});

test('a list for those who may not see tenants has none', async () => {
  const limits = { effective: NONE, inUse: 0 };
  const { url } = await playAnswers(
    json(200, { definitions: [{ key: 'report', version: 1, limits, paused: null }] }),
    json(200, { pauses: [] }),
    problem(403, 'FORBIDDEN'),
  );
  const { code, stdout } = await run(['limits', '--url', url]);
  expect(code).toBe(0);
  // Without a limit nothing is counted.
  expect(stdout).toContain('report      -       -');
  expect(stdout).not.toContain('TENANT');
});

test('the limits of a tenant are shown without flags', async () => {
  const { url, seen } = await playAnswers(json(200, { tenants: [ACME] }));
  const shown = await run(['limits', 'tenant', 'acme', '--url', url]);
  expect(shown).toMatchObject({ code: 0, stdout: 'acme: at most 4 jobs at a time, weight 1\n' });
  expect(seen).toMatchObject([{ method: 'GET', url: '/v1/tenants' }]);
  const wrong = await run(['limits', 'tenant', 'acne', '--url', url]);
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('"acme"') as string });
});
