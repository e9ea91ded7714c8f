import { expect, test } from 'vitest';
import { ownSteps, reusedSteps } from './replay.ts';

const steps = ['a', 'b', 'c'].map((name, index) => ({
  name,
  at: `2030-01-0${index + 1}`,
  value: index,
}));

test.each([
  [null, { a: 0, b: 1, c: 2 }, 'kept'],
  ['c', { a: 0, b: 1 }, 'kept'],
  ['b', { a: 0 }, undefined],
  ['a', {}, undefined],
])('from %s on, %j is reused', (from, reused, kept) => {
  const checkpoint = { at: '2030-01-02', value: 'kept' };
  expect(reusedSteps({ steps, checkpoint }, from)).toEqual({ steps: reused, checkpoint: kept });
});

test('nothing is reused of a job that stored nothing', () => {
  expect(reusedSteps({ steps: [], checkpoint: null }, null)).toEqual({
    steps: {},
    checkpoint: undefined,
  });
});

test('children and the waits for them stay, whatever step is run again', () => {
  const names = ['a', 'children:', 'wait-children:1', 'b'];
  const stored = names.map((name, index) => ({ name, at: `2030-01-0${index + 1}`, value: index }));
  expect(reusedSteps({ steps: stored, checkpoint: null }, 'a').steps).toEqual({
    'wait-children:1': 2,
  });
  expect(ownSteps(names)).toEqual(['a', 'b']);
});
