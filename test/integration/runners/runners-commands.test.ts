import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIXTURES, isAlive } from '../../support/processes.ts';
import { errorOf, resultOf, type TestRunners, testRunners } from '../../support/servers/runners.ts';
import { until } from '../../support/until.ts';

let runners: TestRunners;
beforeAll(async () => {
  runners = await testRunners('commands');
});
afterAll(async () => await runners.stop());

const begin = async (key: string) => {
  const begun = await runners.begin(key);
  await until('it has begun', () => begun.messages.length > 0);
  return begun;
};

describe('a command', () => {
  it.each(['stdin', 'file'])('gets its params from its %s', async (key) => {
    const params = { text: 'ünï "quoted" $HOME\n', list: [1, 2.5, null] };
    expect(resultOf(await runners.run(key, params))).toEqual(params);
  });

  it('has its params in a file that is its own', async () => {
    expect((await runners.run('mode')).output).toEqual(['stdout: 600']);
  });

  it('gets the id of its job, and runs in the folder of its definition', async () => {
    const [id, attempt, folder] = resultOf(await runners.run('environment')) as string[];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(attempt).toBe('1');
    expect(folder).toBe(join(FIXTURES, 'runners', 'commands'));
  });

  it('succeeds without any message', async () => {
    const ran = await runners.run('quiet');
    expect(resultOf(ran)).toBeNull();
    expect(ran.output.sort()).toEqual(['stderr: to stderr', 'stdout: to stdout']);
  });

  it('sends messages on descriptor 3; the last result counts, unchanged', async () => {
    const ran = await runners.run('words');
    expect(ran.messages).toMatchObject([
      { type: 'progress', fraction: 0.25, message: 'a quarter' },
      { type: 'event', name: 'made', payloadJson: '{"size":2}' },
      { type: 'event', name: 'bare', payloadJson: 'null' },
      { type: 'progress', fraction: 1, message: null },
    ]);
    expect(ran.outcome?.outcome).toEqual({
      kind: 'success',
      resultJson: '12345678901234567890.10',
    });
  });

  it('gets its invalid lines logged, and goes on', async () => {
    const ran = await runners.run('nonsense');
    expect(resultOf(ran)).toBe('fine');
    expect(ran.messages).toMatchObject([{ type: 'progress', fraction: 0.5 }]);
    const ignored = 'stderr: longshore: ignored on descriptor 3:';
    expect(ran.output).toEqual([
      `${ignored} the line is not a JSON object: not json`,
      `${ignored} unknown field "progres": did you mean "progress"?: {"progres":0.5}`,
      `${ignored} "progress" must be a number from 0 to 1: {"progress":7}`,
      `${ignored} unknown field "eta": known are progress, message, heartbeat, event, payload, stream, ` +
        'result, error: {"progress":0.5,"eta":3}',
    ]);
  });

  it.each([
    [
      'exit',
      'HANDLER_ERROR',
      'the command exited with code 3: what went wrong\n\nfirst\nwhat went wrong',
    ],
    ['error', 'RATE_LIMITED', 'slow down'],
    ['error-and-zero', 'HANDLER_ERROR', 'no'],
    [
      'wrong-error',
      'HANDLER_ERROR',
      'the command reported an error, but "error" must be an object',
    ],
    [
      'not-a-number',
      'RESULT_INVALID',
      'the command gave no result, unless this on descriptor 3 was one: ' +
        'the line is not a JSON object: {"result": NaN}',
    ],
    ['large', 'RESULT_TOO_LARGE', 'the result has 1100002 bytes, the limit is 1048576'],
  ])('fails as its words and its exit code say: %s', async (key, code, message) => {
    const ran = await runners.run(key);
    expect(errorOf(ran)).toMatchObject({ code, message });
    expect(ran.outcome?.exitCode).toBe({ exit: 3, error: 1 }[key] ?? 0);
  });

  it('may set the delay of the retry', async () => {
    const { outcome } = await runners.run('error');
    expect(outcome?.outcome).toMatchObject({ kind: 'failure', retryAfterMs: 1_500 });
  });

  it.each([
    ['missing', /^the program "no-such-program-anywhere" was not found in PATH \(\//],
    ['missing-file', /^".\/no-such-file.sh" is no program that can be run: \/.*no-such-file.sh$/],
    ['missing-folder', /^the folder to run "true" in is not there: \/.*no-such-folder$/],
  ])('that cannot be started fails with what was looked for: %s', async (key, message) => {
    const error = errorOf(await runners.run(key));
    expect(error.code).toBe('HANDLER_ERROR');
    expect(error.message).toMatch(message);
  });

  it('that is ended by a signal has crashed', async () => {
    const { exit } = await runners.run('crash');
    expect(exit).toMatchObject({ code: null, signal: 'SIGSEGV', cause: null });
  });

  it('that writes a line without end is ended', async () => {
    expect(errorOf(await runners.run('endless'))).toMatchObject({
      code: 'CRASHED',
      message: 'the command wrote a line of more than 16777216 characters on descriptor 3',
    });
  });
});

describe('a command that is asked to stop', () => {
  it('gets SIGTERM at once, with all its processes', async () => {
    const job = await begin('dies');
    job.abort('cancel');
    expect((await job.ended).exit).toMatchObject({ signal: 'SIGTERM' });
  });

  it('has not succeeded because it exits with 0', async () => {
    const job = await begin('listens');
    job.abort('timeout');
    const { message } = errorOf(await job.ended);
    expect(message).toBe('the command was stopped by SIGTERM and gave no result');
  });

  it('has succeeded if it gives its result', async () => {
    const job = await begin('finishes');
    job.abort('drain');
    expect(resultOf(await job.ended)).toBe('done');
  });

  it('can ignore that, but not a kill', async () => {
    const job = await begin('ignores');
    job.abort('cancel');
    job.runner.terminate();
    expect(isAlive(job.runner.pid ?? 0)).toBe(true);
    job.runner.kill();
    expect((await job.ended).exit).toMatchObject({ signal: 'SIGKILL' });
    expect(isAlive(job.runner.pid ?? 0)).toBe(false);
  });
});

it('a command that is killed is remembered by what it used', async () => {
  const job = await begin('busy');
  job.runner.kill();
  const { exit } = await job.ended;
  expect(exit?.peakRssBytes).toBeGreaterThan(100_000);
  expect(exit?.cpuMs).toBeGreaterThanOrEqual(0);
});

describe('the examples', () => {
  const EXAMPLES = fileURLToPath(new URL('../../../examples/jobs', import.meta.url));
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  let examples: TestRunners;
  beforeAll(async () => {
    examples = await testRunners(EXAMPLES);
  });
  afterAll(async () => await examples.stop());

  it('check a backup', async () => {
    const folder = join(FIXTURES, 'runners');
    const ran = await examples.run('backup-check', { folder });
    const { files, bytes, sha256 } = resultOf(ran) as Record<string, unknown>;
    expect(files).toBeGreaterThan(5);
    expect(bytes).toBeGreaterThan(1_000);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(ran.messages).toHaveLength(3);
    const error = errorOf(await examples.run('backup-check', { folder: '/no/such/folder' }));
    expect(error).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.runIf(hasPython)('count words', async () => {
    const { words, top } = resultOf(
      await examples.run('word-count', { text: 'a b a ü', top: 1 }),
    ) as {
      words: number;
      top: unknown;
    };
    expect({ words, top }).toEqual({ words: 4, top: [['a', 2]] });
    const error = errorOf(await examples.run('word-count', { text: ' ' }));
    expect(error).toMatchObject({ code: 'PAYLOAD_INVALID', message: 'there is no text to count' });
  });

  it.runIf(!hasPython)('say what is missing', async () => {
    expect(errorOf(await examples.run('word-count')).message).toContain('"python3" was not found');
  });
});
