import { expect, test } from 'vitest';
import { actorWords, ANONYMOUS, keyActor } from './actor.ts';

const ID = '58c5788b7c0b260d';

test.each([
  [keyActor('session', ID, 'ada'), 'ada (key 58c5…, browser session)'],
  [keyActor('key', ID, 'CI (main)'), 'CI (main) (key 58c5…)'],
  [keyActor('key', ID, null), `key:${ID}`],
  ['user:ada@example.com (248289)', 'user:ada@example.com (248289)'],
  [ANONYMOUS, 'anonymous (no keys)'],
  ['cli', 'cli'],
])('the actor %s is shown as %s', (actor, words) => {
  expect(actorWords(actor)).toBe(words);
});
