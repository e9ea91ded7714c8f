import { expect, test } from 'vitest';
import { attemptErrors, killedWords, processWords } from './attempt-words.ts';

const error = (message: string) => ({ code: 'E', message, stack: null, cause: null });

test('a message is shown once, by the panel or by the first attempt that has it', () => {
  const attempts = ['slow', 'slow', null, 'gone', 'gone'].map((message, index) => ({
    number: index + 1,
    error: message === null ? null : error(message),
  }));
  expect(attemptErrors(attempts, error('gone'))).toEqual([
    'slow',
    '(as attempt 1)',
    null,
    '(the error above)',
    '(the error above)',
  ]);
  expect(attemptErrors(attempts.slice(3), null)).toEqual(['gone', '(as attempt 4)']);
});

test.each([
  [0, null, null],
  [null, null, null],
  [137, null, 'exit code 137'],
  [null, 'SIGKILL', 'SIGKILL'],
])('exit code %s and signal %s are shown as %s', (exitCode, signal, words) => {
  expect(processWords({ exitCode, signal })).toBe(words);
});

test('a cancelled attempt that had to be killed says so', () => {
  expect(killedWords({ outcome: 'cancelled', signal: 'SIGKILL' })).toMatch(
    /ignored its abort signal and was killed/,
  );
  expect(killedWords({ outcome: 'cancelled', signal: null })).toBeNull();
  expect(killedWords({ outcome: 'failed', signal: 'SIGKILL' })).toBeNull();
});
