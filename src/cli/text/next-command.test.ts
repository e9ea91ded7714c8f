import { expect, test } from 'vitest';
import { nextCommand } from './next-command.ts';

test.each([
  ['show x', {}, 'show x'],
  ['show x', { url: 'http://a:1' }, 'show x --url http://a:1'],
  [
    'show x',
    { url: 'http://a/?b&c', tenant: 'acme' },
    "show x --url 'http://a/?b&c' --tenant acme",
  ],
  ['issues --tenant b', { tenant: 'acme' }, 'issues --tenant b'],
])('%s with %j', (command, given, expected) => {
  expect(nextCommand(command, given)).toBe(`npx longshore ${expected}`);
});
