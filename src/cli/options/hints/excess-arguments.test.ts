import { expect, test } from 'vitest';
import { run } from '../../../../test/support/cli.ts';

test.each([
  [['pause', 'hello'], 'pause takes fewer arguments: did you mean --definition hello?'],
  [['dlq', 'retry', 'hello'], 'retry takes fewer arguments: did you mean --definition hello?'],
  [
    ['signal', '01a1', 'decision', '{"approved":true}'],
    'signal takes fewer arguments: did you mean --payload JSON?',
  ],
  [
    ['enqueue', 'total', '{items:', '["tea"]}'],
    `enqueue takes fewer arguments: put quotes around the JSON: '{"a": 1}'`,
  ],
  [
    ['enqueue', 'mail.send', 'to=a@example.com', "subject=It's me", 'copies=2'],
    'enqueue takes fewer arguments: the params are one argument, as JSON: ' +
      `'{"to":"a@example.com","subject":"It'\\''s me","copies":2}'`,
  ],
  [
    ['schedules', 'create', 'hello', '*/5', '*', '*'],
    'create takes fewer arguments: put quotes around the cron expression: "*/5 * * * *"',
  ],
  [
    ['show', '01a1', '01a2'],
    "too many arguments for 'show'. Expected 1 argument but got 2: 01a1, 01a2.",
  ],
])('%j says what to do', async (args, words) => {
  expect(await run(args)).toMatchObject({ code: 2, stderr: `error: ${words}\n` });
});
