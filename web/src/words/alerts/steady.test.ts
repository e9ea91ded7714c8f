import { expect, test } from 'vitest';
import { madeJob } from '../made.fixture.ts';
import { steady } from './steady.ts';

test('rows keep their places, are brought up to date, and new ones are counted', () => {
  const [a, b] = [madeJob({ jobId: 'a' }), madeJob({ jobId: 'b' })];
  const done = madeJob({ jobId: 'a', status: 'succeeded' });
  expect(steady([b, a], [madeJob({ jobId: 'c' }), done])).toEqual({ rows: [b, done], added: 1 });
  expect(steady([a], [a])).toEqual({ rows: [a], added: 0 });
});
