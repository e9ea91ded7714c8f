import { describe, expect, test } from 'vitest';
import { run, start, SUMMARY } from '../../test/support/cli.ts';
import { json, playAnswers } from '../../test/support/servers/playing-server.ts';
import type { Check } from '../app/app.ts';

test('config shows values, where they came from, and no secrets', async () => {
  const env = { DATABASE_URL: 'postgres://u:secret@db/jobs', LONGSHORE_API_KEY: 'lsk_secret' };
  const { code, stdout } = await run(['config', '--port', '5000'], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^port +5000 +flag --port$/m);
  expect(stdout).toMatch(/^databaseUrl +postgres:\/\/u:\*\*\*@db\/jobs +env DATABASE_URL$/m);
  expect(stdout).not.toContain('secret');
});

test('migrate prints what it applied', async () => {
  const { stdout, stderr } = await run(['migrate']);
  expect({ stdout, stderr }).toEqual({
    stdout: '0001_schema\n',
    stderr: 'PostgreSQL 18 is now up to date.\n',
  });
});

test('a command names the server if nothing in this folder does', async () => {
  // A terminal, so that it does not wait for a server that is not there.
  const found = await run(['list'], { terminal: true });
  const server = 'Server: http://127.0.0.1:4400 (the default, because this folder has no server';
  expect(found.stderr.startsWith(server)).toBe(true);
  const { url } = await playAnswers(json(200, { jobs: [], nextCursor: null }));
  expect((await run(['list', '--url', url])).stderr).toBe('No matching jobs.\n');
  const env = { LONGSHORE_URL: url };
  expect((await run(['list'], { env })).stderr).toBe('No matching jobs.\n');
  expect((await run(['list', '--quiet'], { terminal: true })).stderr).not.toContain('Server:');
});

describe('doctor', () => {
  const well: Check = { name: 'node', status: 'ok', detail: '24.1', fix: null };
  const odd: Check = {
    name: 'clock',
    status: 'warning',
    detail: '3 s behind',
    fix: 'set \u001b it',
  };
  const bad: Check = { name: 'permissions', status: 'problem', detail: 'none', fix: 'grant them' };
  const away: Check = { name: 'database', status: 'problem', detail: 'away', fix: 'start it' };

  test('prints a line for each check, and below it what to do', async () => {
    const env = { LONGSHORE_URL: 'http://prod.example:4400' };
    const elsewhere = await run(['doctor'], { checks: [well], env });
    expect(elsewhere.stderr).toContain(`, not the server ${env.LONGSHORE_URL}`);
    expect(await run(['doctor'], { checks: [well, odd, bad] })).toEqual({
      code: 1,
      stdout: [
        '✓ node         24.1',
        '! clock        3 s behind',
        '    → set \\u001b it',
        '✗ permissions  none',
        '    → grant them',
        '',
      ].join('\n'),
      stderr: '1 problem and 1 warning.\n',
    });
  });

  test.each([
    ['all is well', [well, well], 0, 'No problems found.\n'],
    ['there are only warnings', [well, odd, odd], 0, '2 warnings.\n'],
    ['the database is away', [bad, away], 6, '2 problems.\n'],
  ])('when %s', async (_, checks, code, stderr) => {
    expect(await run(['doctor'], { checks })).toMatchObject({ code, stderr });
  });

  test('--json prints the checks as a document', async () => {
    const { code, stdout, stderr } = await run(['doctor', '--json'], { checks: [well, bad] });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ checks: [well, bad] });
  });
});

describe('roles', () => {
  const quietly = ['--log-level', 'silent'];

  test('start says what it found and what to try, and a signal ends it calmly', async () => {
    const running = start(['start', ...quietly]);
    while (!running.stderr.text().includes('Try it')) await new Promise(setImmediate);
    running.cli.onSignal?.('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(running.stderr.text().split('\n')).toEqual([
      'Longshore is up',
      '  database      PostgreSQL 18.4 (embedded, ./.longshore/pg)',
      '  address       http://127.0.0.1:4400',
      '  dashboard     http://127.0.0.1:4400/ui/',
      '  definitions   image.resize v2, hello',
      '  slots         8',
      '',
      'Try it:',
      "  curl -sS http://127.0.0.1:4400/v1/jobs -H 'content-type: application/json' " +
        `-d '{"definitionKey":"hello"}'`,
      '  npx longshore show ID',
      'Draining… running jobs have 30 s (again to stop at once)',
      'Stopped',
      '',
    ]);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('a second %s exits at once with %i', async (signal, code) => {
    let letGo = () => {};
    const stop = () => new Promise<void>((resolve) => (letGo = resolve));
    const running = start(['worker', ...quietly], { app: { stop } });
    while (!running.stderr.text().includes('is up')) await new Promise(setImmediate);
    running.cli.onSignal?.('SIGINT');
    running.cli.onSignal?.(signal);
    expect(running.exits).toEqual([code]);
    await new Promise(setImmediate);
    letGo();
    await running.ended;
  });

  test('a worker that was asked to drain ends calmly by itself', async () => {
    let stops = 0;
    const app = { drainAsked: Promise.resolve(), stop: async () => void (stops += 1) };
    expect(await start(['worker', ...quietly], { app }).ended).toBe(0);
    expect(stops).toBe(1);
  });

  test('--json prints the summary as a document', async () => {
    const running = start(['start', '--json', ...quietly]);
    while (!running.stdout.text().includes('}')) await new Promise(setImmediate);
    running.cli.onSignal?.('SIGTERM');
    await running.ended;
    expect(JSON.parse(running.stdout.text())).toEqual({ role: 'start', ...SUMMARY });
  });
});
