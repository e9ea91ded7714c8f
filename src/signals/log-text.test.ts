import { expect, it, test } from 'vitest';
import { logText } from './log-text.ts';

const JOB = { jobId: '01a1e665-dd9a-7512-8a86-aa5a8bbba000', definition: 'hello', attempt: 1 };

/** Without the time, which is that of the reader's zone. */
function textOf(line: object, folder = '/app'): string {
  const text = logText(
    JSON.stringify({ level: 30, time: '2030-01-01T00:00:00.000Z', ...line }),
    folder,
  );
  expect(text).toMatch(/^\d\d:\d\d:\d\d {2}/);
  return text.slice(10);
}

test.each([
  [{ msg: 'job.claimed' }, '▶ running'],
  [{ msg: 'job.claimed', attempt: 2 }, '▶ running, attempt 2'],
  [{ msg: 'job.log', message: 'a\nb' }, '  a\\nb'],
  [{ msg: 'job.log', message: 'low', lineLevel: 'warn' }, '  warn: low'],
  [{ msg: 'job.succeeded', durationMs: 93 }, '✓ succeeded after running 93 ms'],
  [
    { msg: 'job.failed', next: 'retrying', durationMs: 4, code: 'TIMEOUT' },
    '↻ retrying: attempt 1 failed after running 4 ms: TIMEOUT',
  ],
  [
    { msg: 'job.failed', next: 'failed', code: 'X', message: 'a\nb' },
    '✗ failed on attempt 1: X a\\nb',
  ],
  [
    { msg: 'job.failed', next: 'failed', code: 'X', message: 'not saved', cause: 'no column' },
    '✗ failed on attempt 1: X not saved ← no column',
  ],
  [{ msg: 'job.cancelled', durationMs: 1_500 }, '■ cancelled after running 1.5 s'],
  [{ msg: 'job.returned', reason: 'drain' }, '↻ returned to its queue: drain'],
  [
    { msg: 'job.returned', reason: 'suspended' },
    '… suspended until what it waits for has happened',
  ],
])('%j is a line for people', (line, words) => {
  expect(textOf({ ...JOB, ...line })).toBe(`hello             aa5a8bbba000  ${words}\n`);
});

it('shows the frames of own code only, below the folder', () => {
  const stack = [
    'Error: no',
    '    at total (file:///app/jobs/total.ts:3:9)',
    '    at lib (/app/node_modules/lib/index.js:1:1)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)',
    '    at async resultOf (/opt/longshore/dist/code-1/worker/runner/main.cjs:1766:17)',
  ].join('\n');
  const text = textOf({ ...JOB, msg: 'job.failed', next: 'failed', code: 'X', stack });
  expect(text.split('\n').slice(1)).toEqual(['            at total (jobs/total.ts:3:9)', '']);
});

it('shows other lines with their fields, and the message of an error', () => {
  expect(textOf({ msg: 'migration applied', role: 'start', migration: '0001' })).toBe(
    'migration applied  migration=0001\n',
  );
  expect(textOf({ level: 50, msg: 'lost', err: { message: 'down' }, pauseMs: 5 })).toBe(
    'error: lost: down  pauseMs=5\n',
  );
});
