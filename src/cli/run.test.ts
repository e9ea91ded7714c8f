import { describe, expect, test } from 'vitest';
import { run, start, SUMMARY } from '../../test/support/cli.ts';
import { json, playAnswers, problem } from '../../test/support/servers/playing-server.ts';
import type { Check } from '../app/app.ts';
import { JOB_STATES } from '../core/job/job.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const receipt = json(202, { jobId: ID, status: 'queued' });

function finished(status: string, error: unknown = null) {
  return json(200, finishedJob(status, error));
}

function finishedJob(status: string, error: unknown = null) {
  const job = { jobId: ID, definitionKey: 'hello', definitionVersion: 1, status, error };
  const counts = { attempts: 1, maxAttempts: 3, priority: 0, tags: [], warnings: [] };
  const times = { createdAt: '2030-01-01T00:00:50Z', startedAt: null, finishedAt: null };
  const keys = { idempotencyKey: null, concurrencyKey: null };
  const none = { tenant: 'default', owner: null, ...keys, workerId: null };
  return { ...job, ...counts, ...times, ...none, params: {}, result: 1, runAt: null };
}

describe('enqueue', () => {
  test('prints the id alone on stdout and sends what the flags say', async () => {
    const { url, seen } = await playAnswers(receipt);
    const flags = ['--priority', '-5', '--delay-ms', '10', '--tag', 'a', '--tag', 'b', '--hold'];
    const args = ['enqueue', 'hello', '-', ...flags, '--max-attempts', '2'];
    const more = ['--definition-version', '4', '--idempotency-key', 'k', '--url', url];
    const { code, stdout, stderr } = await run([...args, ...more], { stdin: '{"a":1}' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
    expect(stderr).toBe(`queued; show it with: longshore show ${ID}\n`);
    expect(seen[0]?.body).toEqual({
      definitionKey: 'hello',
      params: { a: 1 },
      priority: -5,
      delayMs: 10,
      tags: ['a', 'b'],
      hold: true,
      maxAttempts: 2,
      definitionVersion: 4,
      idempotencyKey: 'k',
    });
  });

  test.each([
    [['--unique', 'active'], { while: 'active' }],
    [['--unique', '5000', '--unique-key', 'k'], { key: 'k', while: { windowMs: 5_000 } }],
    [['--unique', 'queued', '--replace'], { while: 'queued', onConflict: 'replace' }],
  ])('%j asks for a job that is one of a kind', async (flags, unique) => {
    const { url, seen } = await playAnswers(receipt);
    const more = ['--expires-at', '2030-01-01T00:00:00Z', '--skip-validation', '--url', url];
    expect((await run(['enqueue', 'hello', ...flags, ...more])).code).toBe(0);
    const rest = { expiresAt: '2030-01-01T00:00:00Z', skipValidation: true };
    expect(seen[0]?.body).toMatchObject({ unique, ...rest });
  });

  test.each([
    ['succeeded', 0],
    ['failed', 1],
    ['cancelled', 1],
  ])('--wait until it has %s exits with %i', async (status, expected) => {
    const { url } = await playAnswers(receipt, finished('running'), finished(status));
    const { code, stdout } = await run(['enqueue', 'hello', '--wait', '--url', url]);
    expect(code).toBe(expected);
    expect(stdout.split('\n')[0]).toMatch(new RegExp(`^${status}`));
  });

  const detail = 'no worker has registered "helo": did you mean "hello"?';
  const warnings = [{ code: 'UNREGISTERED', detail }];
  const unheard = json(202, { jobId: ID, status: 'queued', warnings });

  test('says on stderr that no worker has registered the definition', async () => {
    const { url } = await playAnswers(unheard);
    const { code, stdout, stderr } = await run(['enqueue', 'helo', '--url', url]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
    expect(stderr).toMatch(/^warning: no worker has registered "helo": did you mean "hello"\?\n/);
    const asJson = await run(['enqueue', 'helo', '--json', '--url', url]);
    expect(JSON.parse(asJson.stdout)).toEqual({ jobId: ID, status: 'queued', warnings });
  });

  test('--wait does not wait for a definition that may never come: exit 3', async () => {
    const { url, seen } = await playAnswers(unheard, finished('queued'));
    const { code, stdout, stderr } = await run(['enqueue', 'helo', '--wait', '--url', url]);
    expect({ code, stdout, asked: seen.length }).toEqual({ code: 3, stdout: '', asked: 1 });
    expect(stderr).toContain(detail);
    expect(stderr).toContain(`longshore cancel ${ID}`);
  });

  test('--wait --timeout says what it waits for, and then exits with 7', async () => {
    const { url } = await playAnswers(unheard, finished('queued'));
    const args = ['enqueue', 'helo', '--wait', '--timeout', '0.1', '--url', url];
    const { code, stderr } = await run(args);
    expect(code).toBe(7);
    expect(stderr).toContain(`warning: ${detail} Waiting 100 ms for one.`);
  });

  test('--wait says when no running worker has the definition', async () => {
    const job = { ...finishedJob('queued'), warnings: [{ code: 'UNHANDLED', since: null }] };
    const { url } = await playAnswers(receipt, json(200, job), json(200, job), finished('failed'));
    const { stderr } = await run(['enqueue', 'hello', '--wait', '--url', url]);
    expect(stderr).toBe('warning: no running worker has "hello"; still waiting for one\n');
  });

  test('--wait that takes too long exits with 7, and --json makes that a problem', async () => {
    const { url } = await playAnswers(receipt, finished('running'));
    const args = ['enqueue', 'hello', '--wait', '--timeout', '0.1', '--json', '--url', url];
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ code: 'WAIT_TIMEOUT' });
  });

  test('Ctrl-C while waiting leaves the job alone and exits with 130', async () => {
    const { url, seen } = await playAnswers(receipt, finished('running'), finished('succeeded'));
    const running = start(['enqueue', 'hello', '--wait', '--url', url]);
    while (seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    running.cli.onSignal?.('SIGINT');
    expect(running.exits).toEqual([130]);
    await running.ended;
    expect(running.stderr.text()).toContain('The job continues.');
  });
});

describe('looking', () => {
  test('list prints columns, and where to go on to stderr', async () => {
    const page = { jobs: [], nextCursor: 'abc' };
    const { url, seen } = await playAnswers(json(200, page));
    const args = ['list', '--status', 'failed,queued', '--status', 'running', '--limit', '2'];
    const around = { env: { LONGSHORE_URL: url } };
    const { code, stdout, stderr } = await run([...args, '--sort', '-createdAt'], around);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe('No matching jobs.\nNext page: --cursor abc\n');
    expect(seen[0]?.url).toBe(
      '/v1/jobs?status=failed&status=queued&status=running&limit=2&sort=-createdAt',
    );
  });

  test('list shows why a job failed', async () => {
    const error = { code: 'HANDLER_ERROR', message: 'boom\nat x', stack: null, cause: null };
    const job = { jobId: ID, definitionKey: 'hello', status: 'failed', error, runAt: null };
    const counts = { attempts: 3, maxAttempts: 3, createdAt: '2030-01-01T00:00:00Z' };
    const { url } = await playAnswers(
      json(200, { jobs: [{ ...job, ...counts }], nextCursor: null }),
    );
    const { stdout } = await run(['list', '--url', url]);
    expect(stdout).toBe(
      'ID                                    DEFINITION  STATUS  ATTEMPT  AGE  DETAIL\n' +
        `${ID}  hello       failed  3/3      1m   HANDLER_ERROR boom\\nat x\n`,
    );
  });

  test('a job that is not there exits with 3', async () => {
    const { url } = await playAnswers(problem(404, 'NOT_FOUND'));
    const { code, stderr } = await run(['show', ID, '--url', url]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: 'error: detail of NOT_FOUND\n' });
  });
});

describe('cancel and release', () => {
  const conflict = problem(409, 'CONFLICT');

  test('go on after a refusal; one kind of refusal gives its own code', async () => {
    const { url } = await playAnswers(conflict, json(202, { jobId: ID, status: 'cancelled' }));
    const { code, stdout, stderr } = await run(['cancel', ID, ID, '--url', url]);
    expect({ code, stdout }).toEqual({ code: 5, stdout: `${ID}  cancelled\n` });
    expect(stderr).toBe('error: detail of CONFLICT\n');
  });

  test('different refusals give 1, and --json tells them apart', async () => {
    const { url } = await playAnswers(conflict, problem(404, 'NOT_FOUND'));
    const { code, stdout } = await run(['release', ID, ID, '--json', '--url', url]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      jobs: [{ problem: { code: 'CONFLICT' } }, { problem: { code: 'NOT_FOUND' } }],
    });
  });
});

describe('stats', () => {
  const none = { p50: null, p95: null, p99: null };
  const states = Object.fromEntries(JOB_STATES.map((state) => [state, 0]));
  const idle = { depth: 0, running: 0, states, oldestAgeMs: null, successRate: null };
  const rest = { failureRate: null, waitMs: none, runMs: none, retries: 0 };
  const busy = {
    depth: 2,
    running: 1,
    states: { ...states, queued: 2, failed: 3 },
    oldestAgeMs: 61_000,
    successRate: 0.9996,
    runMs: { ...none, p95: { from: 1_000, to: 2_500 } },
    retries: 4,
  };
  const definitions = [
    { key: 'a', ...idle, ...rest },
    { key: 'b', ...rest, ...busy },
  ];
  const totals = { ...states, queued: 2, failed: 3 };

  test('prints a row for each definition, and tells the totals', async () => {
    const { url, seen } = await playAnswers(json(200, { definitions, totals }));
    const { stdout, stderr } = await run(['stats', '--window-minutes', '15', '--url', url]);
    expect(stdout).toBe(
      'DEFINITION  QUEUED  RUNNING  RETRYING  SCHEDULED  FAILED  OLDEST  SUCCESS  WAIT-P95  RUN-P95  RETRIES\n' +
        'a           0       0        0         0          0       -       -        -         -        0\n' +
        'b           2       1        0         0          3       1m      99.9 %   -         1–2.5 s  4\n',
    );
    expect(stderr).toBe('Total: 2 queued, 3 failed.\n');
    expect(seen[0]?.url).toBe('/v1/stats?windowMinutes=15&seriesMinutes=1');
  });

  test('says on stderr that there is nothing yet', async () => {
    const { url } = await playAnswers(json(200, { definitions: [], totals }));
    const { stdout, stderr } = await run(['stats', '--url', url]);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'No jobs yet.\n' });
  });
});

describe('workers', () => {
  const WORKER = '6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10';

  test('prints columns with what runs and when each was last heard of', async () => {
    const worker = { workerId: WORKER, host: 'h', pid: 7, version: '1.0', slots: 8 };
    const times = { heartbeatAt: '2030-01-01T00:00:56Z', startedAt: '2029-12-30T00:00:00Z' };
    const workers = [{ ...worker, ...times, running: [ID, ID], status: 'active' }];
    const { url } = await playAnswers(json(200, { workers }));
    expect((await run(['workers', '--url', url])).stdout).toBe(
      'ID                                    STATUS  RUNNING  HEARTBEAT  AGE  VERSION  HOST\n' +
        `${WORKER}  active  2/8      4s         2d   1.0      h pid 7\n`,
    );
    expect(JSON.parse((await run(['workers', '--json', '--url', url])).stdout)).toEqual({
      workers,
    });
  });

  test('says on stderr that there are none', async () => {
    const { url } = await playAnswers(json(200, { workers: [] }));
    const { stdout, stderr } = await run(['workers', '--url', url]);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'No workers.\n' });
  });

  test('drain asks one to leave', async () => {
    const drained = json(202, { workerId: WORKER, status: 'draining' });
    const { url, seen } = await playAnswers(drained, problem(409, 'CONFLICT'));
    const { code, stdout } = await run(['workers', 'drain', WORKER, '--url', url]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${WORKER}  draining\n` });
    expect(seen[0]).toMatchObject({ method: 'POST', url: `/v1/workers/${WORKER}/drain` });
    expect((await run(['workers', 'drain', WORKER, '--url', url])).code).toBe(5);
    expect((await run(['workers', 'drain', 'x', '--url', url])).code).toBe(3);
  });
});

describe('usage', () => {
  test.each([
    [['workers', 'drian', ID], 'unknown command "drian": did you mean "drain"?'],
    [['workers', 'drain', ID, ID], 'too many arguments'],
    [['dlq', 'lst'], 'unknown command "lst": did you mean "list"?'],
    [['strat'], "error: unknown command 'strat': did you mean start?"],
    [['start', '--prot', '1'], "error: unknown option '--prot': did you mean --port?"],
    [['list', '--status', 'faild'], 'unknown status "faild": did you mean "failed"?'],
    [['list', '--limit', 'ten'], 'Must be a whole number.'],
    [['help', 'enqeue'], 'unknown command "enqeue": did you mean "enqueue"?'],
    [['help', 'keys', 'creat'], 'unknown command "creat": did you mean "create"?'],
    [['keys', 'help', 'rotat'], 'unknown command "rotat": did you mean "rotate"?'],
    [['show'], "missing required argument 'id'"],
    [['show', ID, 'more'], 'too many arguments'],
    [['enqueue', 'hello', '{'], 'the params are not JSON'],
    [['enqueue', 'hello', '--timeout', '1'], '--timeout needs --wait'],
    [['enqueue', 'hello', '--unique-key', 'k'], '--unique-key and --replace need --unique'],
    [['enqueue', 'hello', '--unique', 'often'], 'Must be queued, active, or a number'],
    [['start', '--database-url', 'x'], 'set DATABASE_URL or DATABASE_URL_FILE instead'],
    [['worker', '--lease-ms', '1'], '--lease-ms must be a whole number from 500'],
  ])('%j exits with 2', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('errors of the server name the given flags', async () => {
    const errors = [
      { pointer: '/runAt', detail: 'must be a time' },
      { pointer: '/tags/0', detail: 'is too long' },
      { pointer: '/params/items', detail: 'is missing' },
    ];
    const detail = '/runAt: must be a time (and 2 more)';
    const { url } = await playAnswers(json(422, { code: 'VALIDATION_FAILED', detail, errors }));
    const args = ['enqueue', 'hello', '--run-at', 'soon', '--tag', 'x', '--url', url];
    expect((await run(args)).stderr).toBe(
      'error: --run-at: must be a time (and 2 more)\n' +
        '  --tag: is too long\n' +
        '  /params/items: is missing\n',
    );
    const { stderr } = await run([...args, '--json']);
    expect(JSON.parse(stderr)).toMatchObject({ detail, errors });
  });

  test('a missing API key names the variable to set', async () => {
    const { url } = await playAnswers(problem(401, 'UNAUTHORIZED'));
    const { code, stderr } = await run(['list', '--url', url]);
    const expected = 'error: the server requires a valid API key: set LONGSHORE_API_KEY\n';
    expect({ code, stderr }).toEqual({ code: 4, stderr: expected });
  });

  test('help of a command that is there is its help', async () => {
    expect((await run(['help', 'enqueue'])).stdout).toContain('Usage: longshore enqueue');
    expect((await run(['help', 'keys', 'create'])).code).toBe(0);
    expect((await run(['help'])).code).toBe(0);
  });

  test('in --json mode it is a problem as well', async () => {
    const { code, stderr } = await run(['start', '--port', 'x', '--shards', '0', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'USAGE', errors: [{}, {}] });
  });

  test('help that was asked for is data; without a command it is a hint', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, stderr: '' });
    expect(await run([])).toMatchObject({ code: 2, stdout: '' });
    // Where its lines break depends on the longest flag.
    const help = (await run(['start', '--help'])).stdout.replaceAll(/\s+/g, ' ');
    expect(help).toContain('LONGSHORE_LEASE_MS, default 30000');
  });

  test('a client does not stumble over settings of the server', async () => {
    const { url } = await playAnswers(receipt);
    const env = { DATABASE_URL: 'mysql://other', LONGSHORE_URL: url };
    expect((await run(['enqueue', 'hello'], { env })).code).toBe(0);
  });
});

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
      'Draining… (again to stop at once)',
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
