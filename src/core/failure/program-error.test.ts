import { expect, it } from 'vitest';
import { programError } from './program-error.ts';

it.each([
  ['nothing', '', undefined],
  ['one line', 'no such host', 'no such host'],
  ['a shell', "first\nls: cannot access 'x'", "ls: cannot access 'x'"],
  [
    'Python',
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: \'text\'',
    "KeyError: 'text'",
  ],
  [
    'Python, with the name of a module',
    'Traceback (most recent call last):\n  File "a.py", line 1\nrequests.exceptions.ReadTimeout: x\njson.decoder.JSONDecodeError: Expecting value',
    'json.decoder.JSONDecodeError: Expecting value',
  ],
  [
    'Node',
    'a.js:1\nthrow new Error("boom")\n^\n\nError: boom\n    at a.js:1:7\n\nNode.js v24.1.0',
    'Error: boom',
  ],
  [
    'Go',
    'panic: index out of range\n\ngoroutine 1 [running]:\nexit status 2',
    'panic: index out of range',
  ],
  [
    'Java',
    'Exception in thread "main" java.io.IOException: gone\n\tat A.main(A.java:3)',
    'Exception in thread "main" java.io.IOException: gone',
  ],
])('the first line names the error of %s', (_, stderr, headline) => {
  const [first, ...rest] = programError(3, stderr).split('\n\n');
  expect(first).toBe(
    `the command exited with code 3${headline === undefined ? '' : `: ${headline}`}`,
  );
  expect(rest.join('\n\n')).toBe(stderr.includes('\n') ? stderr : '');
});
