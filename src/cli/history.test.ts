import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';
import { PLAIN_JOB } from '../../test/support/plain-job.ts';
import {
  END,
  json,
  playAnswers,
  playBeside,
  problem,
  stream,
} from '../../test/support/servers/playing-server.ts';
import type { JobLog } from '../client/index.ts';
import { logText } from './text/jobs/log-text.ts';
import { Output } from './text/output.ts';
import { size } from './text/size.ts';
import { eventText } from './text/jobs/history-text.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const AT = '2030-01-01T00:00:58.012Z';
const job = json(200, { jobId: ID, status: 'running' });

const line = (message: string, more: Partial<JobLog> = {}): JobLog => ({
  id: '1-0-0',
  attempt: 1,
  at: AT,
  level: 'info',
  stream: 'stdout',
  message,
  ...more,
});
const logs = (...lines: JobLog[]) => json(200, { logs: lines, nextCursor: null });
const live = (...lines: JobLog[]) =>
  lines.map((one) => `id: ${one.id}\nevent: log\ndata: ${JSON.stringify(one)}\n\n`).join('');

describe('stream', () => {
  const entry = (id: string, attempt: number, text: string | null) =>
    `id: ${id}\nevent: x\ndata: ${JSON.stringify({ id, attempt, text })}\n\n`;
  const ended = (status: string) => json(200, { ...PLAIN_JOB, jobId: ID, status });

  test('prints the text as it is, says when it starts over, and ends like its job', async () => {
    const { url, seen } = await playAnswers(
      ended('running'),
      stream(entry('1-0-0', 1, null) + entry('1-1-0', 1, 'a\tb')),
      stream(entry('2-0-0', 2, null) + entry('2-1-0', 2, 'c\n') + END),
      ended('failed'),
    );
    const { code, stdout, stderr } = await run(['stream', ID, '--url', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'a\tbc\n' });
    expect(stderr).toContain('\nattempt 2: the output starts over\n');
    expect(seen[2]?.headers['last-event-id']).toBe('1-1-0');
  });

  test('--json prints one document per chunk', async () => {
    const answer = stream(entry('1-0-0', 1, null) + entry('1-1-0', 1, 'a') + END);
    const { url } = await playAnswers(ended('running'), answer, ended('succeeded'));
    const { code, stdout } = await run(['stream', ID, '--json', '--url', url]);
    expect(code).toBe(0);
    const chunk = { id: '1-1-0', attempt: 1, text: 'a', startsOver: false };
    expect(JSON.parse(stdout)).toEqual(chunk);
  });

  test('enqueue --stream does the same with a new job, and not with --wait', async () => {
    const receipt = json(202, { jobId: ID, status: 'queued' });
    const answer = stream(entry('1-0-0', 1, null) + entry('1-1-0', 1, 'text') + END);
    const { url } = await playAnswers(receipt, answer, ended('succeeded'));
    const enqueue = ['enqueue', 'hello', '--stream', '--url', url];
    expect(await run(enqueue)).toMatchObject({ code: 0, stdout: 'text' });
    expect(await run([...enqueue, '--wait'])).toMatchObject({ code: 2 });
  });
});

describe('logs', () => {
  test('prints when, which attempt, how loud, from where and what', async () => {
    const { url, seen } = await playAnswers(
      logs(
        line('hello'),
        line('careful', { level: 'warn', stream: 'stderr', attempt: 2 }),
        line('from the logger', { stream: 'logger', level: 'fatal' }),
        line('cut here', { stream: 'system', level: 'debug' }),
      ),
    );
    expect(await run(['logs', ID, '--url', url])).toEqual({
      code: 0,
      stderr: '',
      stdout:
        `${AT} #1 info  out hello\n` +
        `${AT} #2 warn  err careful\n` +
        `${AT} #1 fatal log from the logger\n` +
        `${AT} #1 debug sys cut here\n`,
    });
    expect(seen[0]?.url).toBe(`/v1/jobs/${ID}/logs?limit=1000`);
  });

  test('what a job wrote cannot steer the terminal, and may have many lines', async () => {
    const { url } = await playAnswers(logs(line('\u001b]0;owned\u0007\n  at run\u009b2J')));
    const { stdout } = await run(['logs', ID, '--url', url]);
    expect(stdout).toBe(
      `${AT} #1 info  out \\u001b]0;owned\\u0007\n${' '.repeat(37)}   at run\\u009b2J\n`,
    );
  });

  test('--json prints one document per line', async () => {
    const lines = [line('a\nb\u001b'), line('c')];
    const { url, seen } = await playAnswers(logs(...lines));
    const { stdout } = await run(['logs', ID, '--attempt', '2', '--json', '--url', url]);
    expect(stdout).not.toContain('\u001b');
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text) as unknown),
    ).toEqual(lines);
    expect(seen[0]?.url).toContain('attempt=2');
  });

  test('--follow goes on until the job has ended', async () => {
    const { url, seen } = await playAnswers(
      job,
      stream(live(line('one'))),
      stream(live(line('two', { id: '1-0-1' })) + END),
    );
    const { code, stdout } = await run(['logs', ID, '-f', '--url', url]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${AT} #1 info  out one\n${AT} #1 info  out two\n`,
    });
    expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      undefined,
      '1-0-0',
    ]);
  });

  test('says on stderr that there was nothing', async () => {
    const { url } = await playAnswers(logs());
    expect(await run(['logs', ID, '--url', url])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No log output.\n',
    });
  });

  test.each([[['logs', ID]], [['logs', ID, '--follow']]])(
    '%j of a job that is not there exits with 3',
    async (args) => {
      const { url } = await playAnswers(problem(404, 'NOT_FOUND'));
      expect(await run([...args, '--url', url])).toMatchObject({ code: 3, stdout: '' });
    },
  );

  test('Ctrl-C ends following quietly, with what was printed before', async () => {
    const { url } = await playAnswers(job, stream(live(line('one')), 'stay'));
    const bin = fileURLToPath(new URL('../../bin/longshore.js', import.meta.url));
    const child = spawn(process.execPath, [bin, 'logs', ID, '-f', '--url', url]);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      child.kill('SIGINT');
    });
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, stderr, stdout }).toEqual({
      code: 130,
      stderr: '',
      stdout: `${AT} #1 info  out one\n`,
    });
  });

  test('colours are for terminals, and only around what is ours', () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true, getColorDepth: () => 24 });
    const options = { stdout: terminal, stderr: terminal, json: false, quiet: false };
    const loud = line('boom', { level: 'error' });
    const [painted = ''] = logText(new Output({ ...options, color: true }), loud);
    const [plain] = logText(new Output({ ...options, color: false }), loud);
    expect(painted.startsWith('\u001b[31m') && painted.endsWith('\u001b[39m boom')).toBe(true);
    expect(stripVTControlCharacters(painted)).toBe(plain);
    expect(plain).toBe(`${AT} #1 error out boom`);
  });
});

describe('show', () => {
  const shown = {
    ...PLAIN_JOB,
    jobId: ID,
    status: 'running',
    attempts: 2,
    createdAt: AT,
    startedAt: AT,
  };
  const world = {
    '/v1/workers': json(200, { workers: [] }),
    '/v1/definitions': json(200, { definitions: [] }),
    '/v1/pauses': json(200, { pauses: [] }),
    '/v1/tenant': json(200, { tenant: 'default', concurrencyLimit: null, inUse: 0 }),
    '/logs?attempt=2&limit=1000': logs(line('begin'), line('waits for the bank\n')),
  };
  const crashed = {
    number: 1,
    claim: 1,
    definitionVersion: 7,
    workerId: '5f2c8a10-0000-4000-8000-000000000000',
    pid: 77,
    startedAt: AT,
    finishedAt: AT,
    durationMs: 4_012,
    exitCode: null,
    signal: 'SIGKILL',
    peakRssBytes: 256 * 1024 * 1024,
    cpuMs: 3_800,
    error: { code: 'OUT_OF_MEMORY', message: 'x', stack: null, cause: null },
    outcome: 'retrying',
  };
  const running = {
    ...crashed,
    number: 2,
    definitionVersion: 12,
    workerId: null,
    finishedAt: null,
    durationMs: null,
    signal: null,
    peakRssBytes: null,
    cpuMs: null,
    error: null,
    outcome: null,
  };
  const history = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: `1-${index}`,
      type: index === 0 ? 'created' : 'custom',
      at: AT,
      attempt: index === 0 ? null : 1,
      payload: index === 0 ? null : { n: index, text: '\u001b[2J' },
    }));

  test('has a row for each attempt, and the last events', async () => {
    const worker = { workerId: crashed.workerId, host: 'vm', pid: 1080, status: 'dead' };
    const { url } = await playBeside(
      { ...world, '/v1/workers': json(200, { workers: [worker] }) },
      json(200, shown),
      json(200, { attempts: [crashed, running] }),
      json(200, { events: history(12), nextCursor: null }),
    );
    const { code, stdout } = await run(['show', ID, '--url', url]);
    const [, , why, attempts, events] = stdout
      .split('\n\n')
      .map((part) => part.trimEnd().split('\n'));
    expect(code).toBe(0);
    expect(why).toEqual([
      'Is it stuck?',
      '  No sign of it: its worker is alive.',
      '  Last log line, 1 s ago: waits for the bank',
      `  → npx longshore logs ${ID} --url ${url}`,
    ]);
    expect(attempts).toEqual([
      'TRY  VERSION  WORKER         STARTED                   TOOK     EXIT     MEMORY   CPU    OUTCOME   ERROR',
      `1    7        vm (pid 1080)  ${AT}  4 s      SIGKILL  256 MiB  3.8 s  retrying  OUT_OF_MEMORY`,
      `2    12       -              ${AT}  running  -        -        -      -         -`,
    ]);
    expect(events).toHaveLength(11);
    expect(events?.[0]).toBe(`… 2 earlier events: npx longshore show ${ID} --events --url ${url}`);
    expect(events?.at(-1)).toBe(`${AT} #1  custom           {"n":11,"text":"\\u001b[2J"}`);
  });

  test('of a waiting job says why it waits', async () => {
    const { url } = await playBeside(
      { ...world, '/v1/workers': json(200, { workers: [] }) },
      json(200, { ...shown, status: 'queued', definitionKey: 'hello', definitionVersion: 1 }),
      json(200, { attempts: [] }),
      json(200, { events: history(1), nextCursor: null }),
    );
    const { stdout } = await run(['show', ID, '--url', url]);
    expect(stdout).toContain(
      'Why isn’t it running?\n  No worker has registered “hello”.\n' +
        '  → Start a worker that has this definition.\n',
    );
  });

  test('of a job that has not been tried yet says no more than there is', async () => {
    const { url } = await playBeside(
      world,
      json(200, shown),
      json(200, { attempts: [] }),
      json(200, { events: history(1), nextCursor: null }),
    );
    const { stdout } = await run(['show', ID, '--url', url]);
    expect(stdout).not.toContain('TRY');
    expect(stdout.split('\n').at(-2)).toBe(`${AT}     created`);
  });

  test.each([
    ['in a sentence', { code: 'X', message: 'boom\n', stack: 'at x' }, '"X boom"'],
    ['as it is when it is none of ours', 'boom', '"boom"'],
    ['as nothing when there was none', null, 'null'],
  ])('tells an error %s', (_, error, expected) => {
    const event = { id: '1-5-0', at: AT, attempt: 1, payload: { error, runAt: AT } };
    expect(eventText({ ...event, type: 'retry_scheduled' })).toBe(
      `${AT} #1  retry_scheduled  {"error":${expected},"runAt":"${AT}"}`,
    );
  });

  test('--json is the job alone', async () => {
    const { url, seen } = await playAnswers(json(200, shown));
    const { stdout } = await run(['show', ID, '--json', '--url', url]);
    expect(JSON.parse(stdout)).toEqual(shown);
    expect(seen).toHaveLength(1);
  });

  test('--events prints the whole history, for people or for programs', async () => {
    const pages = [
      json(200, { events: history(30).slice(0, 20), nextCursor: '1-19' }),
      json(200, { events: history(30).slice(20), nextCursor: null }),
    ];
    const { url } = await playAnswers(...pages, ...pages);
    const lines = (text: string) => text.trimEnd().split('\n');
    const told = await run(['show', ID, '--events', '--url', url]);
    expect(lines(told.stdout)).toHaveLength(30);
    expect(lines(told.stdout)[0]).toBe(`${AT}     created`);
    const { stdout } = await run(['show', ID, '--events', '--json', '--url', url]);
    expect(lines(stdout).map((text) => JSON.parse(text) as unknown)).toEqual(history(30));
  });
});

test('logs of a word says how to get the log of a definition', async () => {
  const { url } = await playAnswers(json(200, { jobs: [], nextCursor: null }));
  const { code, stderr } = await run(['logs', 'total', '--url', url]);
  expect(code).toBe(3);
  expect(stderr).toContain('For all jobs of a definition: npx longshore logs --definition total');
});

test('an event says that the code of the job sleeps', () => {
  const event = { id: '1', type: 'snoozed', at: AT, attempt: 1 } as const;
  expect(eventText({ ...event, payload: { runAt: AT, sleep: true } })).toBe(
    `${AT} #1  snoozed          sleeps (ctx.sleep) until ${AT}`,
  );
  expect(eventText({ ...event, payload: { runAt: AT } })).toContain('{"runAt"');
});

test('an event names its actor as the dashboard does', () => {
  const event = { id: '1', type: 'cancel_requested', at: AT, attempt: 1 } as const;
  const words = eventText({ ...event, payload: { by: 'anonymous (no keys)' } });
  expect(words).toBe(`${AT} #1  cancel_requested by anonymous (no keys)`);
});

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1 KiB'],
  [1_536, '1.5 KiB'],
  [1_048_575, '1 MiB'],
  [268_435_456, '256 MiB'],
  [5 * 1024 ** 4, '5 TiB'],
  [5_000 * 1024 ** 4, '5000 TiB'],
])('%i bytes are %s', (bytes, expected) => {
  expect(size(bytes)).toBe(expected);
});
