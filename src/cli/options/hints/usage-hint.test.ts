import { expect, test } from 'vitest';
import { run } from '../../../../test/support/cli.ts';

test.each([
  [['show'], '<id> is missing: npx longshore show <id>'],
  [
    ['schedules', 'create', 'hello'],
    '<cron> is missing: npx longshore schedules create <key> <cron>',
  ],
  [['import', 'pg-boss'], '--from <url> is missing: npx longshore import pg-boss --from <url>'],
  [
    ['webhooks', 'create', 'https://example.com'],
    '--event <event> is missing: npx longshore webhooks create <url> --event <event>',
  ],
  [['import', 'rabbit'], 'unknown command "rabbit": known are pg-boss, bullmq'],
  [['frobnicate'], 'unknown command "frobnicate": npx longshore --help lists all'],
  [['help', 'frobnicate'], 'unknown command "frobnicate": npx longshore --help lists all'],
])('%j says what was expected', async (args, words) => {
  expect(await run(args)).toMatchObject({ code: 2, stderr: `error: ${words}\n` });
});
