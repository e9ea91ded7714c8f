import { expect, test } from 'vitest';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import { withNpmHint } from './npm-script.ts';

const taken = new StartRefusal('configuration', 'choose another port: --port 4401');

test.each([
  [
    'an npm script',
    { npm_lifecycle_event: 'start' },
    `${taken.message} (npm needs "--" before it)`,
  ],
  ['npx', { npm_lifecycle_event: 'npx' }, taken.message],
  ['a shell', {}, taken.message],
])('a taken port, started by %s', (_, env, words) => {
  expect(withNpmHint(taken, env)).toMatchObject({ kind: 'configuration', message: words });
});

test('other errors stay as they are', () => {
  const error = new Error('--port 4401');
  expect(withNpmHint(error, { npm_lifecycle_event: 'start' })).toBe(error);
});
