import { describe, expect, test } from 'vitest';
import { run, start } from '../../test/support/cli.ts';
import {
  END,
  json,
  playAnswers,
  playBeside,
  problem,
  stream,
} from '../../test/support/servers/playing-server.ts';

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
  const more = { params: {}, result: 1, runAt: null, progress: null };
  return { ...job, ...counts, ...times, ...none, ...more };
}

function half() {
  const progress = { fraction: 0.5, message: 'page 5' };
  return json(200, { ...finishedJob('running'), startedAt: '2030-01-01T00:00:50Z', progress });
}

describe('enqueue', () => {
  test('prints the id alone on stdout and sends what the flags say', async () => {
    const { url, seen } = await playAnswers(receipt);
    const flags = ['--priority', '-5', '--delay-ms', '10', '--tag', 'a', '--tag', 'b', '--hold'];
    const args = ['enqueue', 'hello', '-', ...flags, '--max-attempts', '2'];
    const more = ['--definition-version', '4', '--idempotency-key', 'k', '--url', url];
    const { code, stdout, stderr } = await run([...args, ...more], { stdin: '{"a":1}' });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${ID}\n` });
    expect(stderr).toBe(`queued; show it with: npx longshore show ${ID} --url ${url}\n`);
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
    [
      ['--unique', 'queued', '--replace', '--max-wait-ms', '9'],
      { while: 'queued', onConflict: 'replace', maxWaitMs: 9 },
    ],
    [['--unique', 'queued', '--replace'], { while: 'queued', onConflict: 'replace' }],
  ])('%j asks for a job that is one of a kind', async (flags, unique) => {
    const { url, seen } = await playAnswers(receipt);
    const more = ['--expires-at', '2030-01-01T00:00:00Z', '--skip-validation', '--url', url];
    expect((await run(['enqueue', 'hello', ...flags, ...more])).code).toBe(0);
    const rest = { expiresAt: '2030-01-01T00:00:00Z', skipValidation: true };
    expect(seen[0]?.body).toMatchObject({ unique, ...rest });
  });

  test('--params is the same as the argument', async () => {
    const { url, seen } = await playAnswers(receipt);
    expect((await run(['enqueue', 'hello', '--params', '{"a":1}', '--url', url])).code).toBe(0);
    expect(seen[0]?.body).toMatchObject({ definitionKey: 'hello', params: { a: 1 } });
  });

  const LOG = { at: '2030-01-01T00:00:51Z', attempt: 1, level: 'info', stream: 'logger' };
  const log = stream(`id: 1\ndata: ${JSON.stringify({ ...LOG, message: 'at work' })}\n\n${END}`);

  test.each([
    ['succeeded', 0],
    ['failed', 1],
    ['cancelled', 1],
  ])('--wait until it has %s exits with %i', async (status, expected) => {
    const answers = [receipt, finished('running'), finished(status)];
    const { url } = await playBeside({ '/logs': log }, ...answers);
    const { code, stdout, stderr } = await run(['enqueue', 'hello', '--wait', '--url', url]);
    expect(code).toBe(expected);
    // A pipe gets the result alone.
    expect(stdout).toBe(status === 'succeeded' ? '1\n' : '');
    expect(stderr.split('\n')[0]).toBe(`job ${ID}`);
    expect(stderr).toContain('2030-01-01T00:00:51Z #1 info  log at work\n');
    expect(stderr).toMatch(new RegExp(`^running attempt 1 of 3[^]*^${status}`, 'm'));
  });

  test.each([
    ['comes late', END],
    [
      'has come',
      `id: 1\ndata: ${JSON.stringify({ ...LOG, id: '1', message: 'at work' })}\n\n${END}`,
    ],
  ])('--wait shows the log of a failed attempt, which %s, once before its end', async (_, text) => {
    const page = json(200, { logs: [{ ...LOG, id: '1', message: 'at work' }], nextCursor: null });
    const beside = { '/logs': stream(text), 'limit=1000': page };
    const answers = [receipt, finished('retrying'), finished('succeeded')];
    const { url } = await playBeside(beside, ...answers);
    const { stderr } = await run(['enqueue', 'hello', '--wait', '--url', url]);
    expect(stderr.split('at work')).toHaveLength(2);
    expect(stderr.indexOf('at work')).toBeLessThan(stderr.indexOf('retrying'));
  });

  test('--wait goes on when the log cannot be read', async () => {
    const beside = { '/logs': problem(403, 'FORBIDDEN') };
    const { url } = await playBeside(beside, receipt, finished('running'), finished('succeeded'));
    const { code, stderr } = await run(['enqueue', 'hello', '--wait', '--url', url]);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('The log') });
  });

  test('--wait on a terminal has one line that changes, and then shows the job', async () => {
    const { url } = await playBeside({ '/logs': log }, receipt, half(), finished('succeeded'));
    const args = ['enqueue', 'hello', '--wait', '--url', url];
    const { stdout, stderr } = await run(args, { terminal: true });
    expect(stderr).toContain(`\r\u001b[2Krunning  ${'▓'.repeat(12)}${'░'.repeat(12)}  50 %  10 s`);
    expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
    expect(stdout).toMatch(/^succeeded on attempt 1 of 3/);
    expect(stdout).toContain(`id          ${ID}`);
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

  test('--wait waits for a definition that a server is about to load', async () => {
    const unheardOf = [{ code: 'UNREGISTERED', detail: 'no worker has registered "hello"' }];
    const stored = json(202, { jobId: ID, status: 'queued', warnings: unheardOf });
    const beside = { '/logs': stream(END), '/definitions': json(200, { definitions: [] }) };
    const { url } = await playBeside(beside, stored, finished('queued'), finished('succeeded'));
    const { code, stdout, stderr } = await run(['enqueue', 'hello', '--wait', '--url', url]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1\n' });
    expect(stderr).toMatch(/^warning: no worker has registered "hello" yet; waiting up to 15 s/);
  });

  test('--wait --timeout says what it waits for, and then exits with 7', async () => {
    const { url } = await playBeside({ '/logs': log }, unheard, finished('queued'));
    const args = ['enqueue', 'helo', '--wait', '--timeout', '0.1', '--url', url];
    const { code, stderr } = await run(args);
    expect(code).toBe(7);
    expect(stderr).toContain(`warning: ${detail} Waiting 100 ms for one.`);
  });

  test('--wait says when no running worker has the definition', async () => {
    const job = { ...finishedJob('queued'), warnings: [{ code: 'UNSERVED', since: null }] };
    const answers = [receipt, json(200, job), json(200, job), finished('failed')];
    const { url } = await playBeside({ '/logs': stream(END) }, ...answers);
    const { stderr } = await run(['enqueue', 'hello', '--wait', '--url', url]);
    const [, second, third] = stderr.split('\n');
    expect(second).toBe('warning: no running worker has "hello"; still waiting for one');
    expect(third).toBe('failed on attempt 1 of 3');
  });

  test('--wait that takes too long exits with 7, and --json makes that a problem', async () => {
    const { url } = await playAnswers(receipt, finished('running'));
    const args = ['enqueue', 'hello', '--wait', '--timeout', '0.1', '--json', '--url', url];
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ code: 'WAIT_TIMEOUT' });
  });

  test('Ctrl-C while waiting leaves the job alone and exits with 130', async () => {
    const answers = [receipt, finished('running'), finished('succeeded')];
    const { url, seen } = await playBeside({ '/logs': log }, ...answers);
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
    const page = { jobs: [], nextCursor: 'abc', searchedUntil: '2026-11-18T00:00:00.000Z' };
    const { url, seen } = await playAnswers(json(200, page));
    const args = ['list', '--status', 'failed,queued', '--status', 'running', '--limit', '2'];
    const around = { env: { LONGSHORE_URL: url } };
    const { code, stdout, stderr } = await run([...args, '--sort', '-createdAt'], around);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe(
      'No matches among the jobs created since 2026-11-18T00:00:00.000Z; others were not searched ' +
        'yet.\nNext page: --cursor abc\n',
    );
    expect(seen.length).toBe(50);
    expect(seen[1]?.url).toContain('cursor=abc');
    expect(seen[0]?.url).toBe(
      '/v1/jobs?status=failed&status=queued&status=running&limit=2&sort=-createdAt',
    );
  });

  test('list shows why a job failed', async () => {
    const cause = { code: 'X', message: 'refused\nat x', stack: null, cause: null };
    const error = { code: 'HANDLER_ERROR', message: 'boom', stack: null, cause };
    const job = { jobId: ID, definitionKey: 'hello', status: 'failed', error, runAt: null };
    const counts = { attempts: 3, maxAttempts: 3, createdAt: '2030-01-01T00:00:00Z' };
    const { url } = await playAnswers(
      json(200, { jobs: [{ ...job, ...counts }], nextCursor: null }),
    );
    const { stdout } = await run(['list', '--url', url]);
    expect(stdout).toBe(
      'ID                                    DEFINITION  STATUS  ATTEMPT  AGE  DETAIL\n' +
        `${ID}  hello       failed  3/3      1m   HANDLER_ERROR refused\n`,
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
    [['show'], '<id> is missing'],
    [['show', ID, 'more'], 'too many arguments'],
    [['enqueue', 'hello', '{'], 'the params are not JSON'],
    [['enqueue', 'hello', '{}', '--params', '{}'], 'as an argument or as --params'],
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
    const detail = '/runAt: must be a time; /tags/0: is too long (and 1 more)';
    const { url } = await playAnswers(json(422, { code: 'VALIDATION_FAILED', detail, errors }));
    const args = ['enqueue', 'hello', '--run-at', 'soon', '--tag', 'x', '--url', url];
    expect((await run(args)).stderr).toBe(
      'error: --run-at: must be a time; --tag: is too long (and 1 more)\n' +
        '  params /items: is missing\n',
    );
    const { stderr } = await run([...args, '--json']);
    expect(JSON.parse(stderr)).toMatchObject({ detail, errors });
    const flagged = [...args, '--params', '{}'];
    expect((await run(flagged)).stderr).toContain('  --params /items: is missing\n');
    const inside = [{ pointer: '/params/name', detail: 'must be string' }];
    const wrong = {
      code: 'PAYLOAD_INVALID',
      detail: '/params/name: must be string',
      errors: inside,
    };
    const { url: other } = await playAnswers(json(422, wrong));
    const create = ['schedules', 'create', 'a', '@daily', '--params', '{"name":7}', '--url', other];
    expect((await run(create)).stderr).toContain('error: --params /name: must be string');
    const cron = [{ pointer: '/cron', detail: 'is not a cron expression' }];
    const noCron = { code: 'VALIDATION_FAILED', detail: '/cron: is not a cron expression' };
    const { url: third } = await playAnswers(json(422, { ...noCron, errors: cron }));
    expect((await run(['schedules', 'create', 'a', '61 * * * *', '--url', third])).stderr).toBe(
      'error: <cron>: is not a cron expression\n',
    );
  });

  test('advice about URLs is left out', async () => {
    const why = 'must be a time (in a URL write + as %2B)';
    const errors = [{ pointer: '/runAt', detail: why }];
    const refused = { code: 'VALIDATION_FAILED', detail: `/runAt: ${why}`, errors };
    const { url } = await playAnswers(json(422, refused));
    expect((await run(['enqueue', 'a', '--run-at', 'soon', '--url', url])).stderr).toBe(
      'error: --run-at: must be a time\n',
    );
  });

  test('an error of the search names it as it was written', async () => {
    const why = 'unknown filter "statsu": did you mean "status"?';
    const refused = { code: 'VALIDATION_FAILED', errors: [{ pointer: '/q', detail: why }] };
    const { url } = await playAnswers(json(400, { ...refused, detail: `/q: ${why}` }));
    const said = async (...args: string[]) => (await run([...args, '--url', url])).stderr;
    expect(await said('list', 'statsu:failed', 'x')).toBe(
      `error: the search "statsu:failed x": ${why}\n`,
    );
    expect(await said('list', '--q', 'statsu:failed')).toBe(`error: --q: ${why}\n`);
    expect(await said('dlq', 'list', '--q', 'statsu:failed')).toBe(`error: --q: ${why}\n`);
  });

  test('a missing API key names the variable to set', async () => {
    const { url } = await playAnswers(problem(401, 'UNAUTHORIZED'));
    const { code, stderr } = await run(['list', '--url', url]);
    const expected = `error: the server ${url} requires a valid API key: set LONGSHORE_API_KEY\n`;
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
