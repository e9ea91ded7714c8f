import { expect, it, test } from 'vitest';
import { drainSteps } from './drain-words.ts';

test.each([
  [1, 'It waits for its running job to finish, for at most LONGSHORE_DRAIN_MS'],
  [3, 'It waits for its 3 running jobs to finish, for at most LONGSHORE_DRAIN_MS'],
])('with %s running jobs', (busy, words) => {
  const steps = drainSteps({ busy });
  expect(steps).toHaveLength(5);
  expect(steps[1]).toContain(words);
  expect(steps[2]).toContain('lose no attempt');
});

it('an idle worker exits at once', () => {
  expect(drainSteps({ busy: 0 })[1]).toBe('It runs no job now, so it exits at once.');
});
