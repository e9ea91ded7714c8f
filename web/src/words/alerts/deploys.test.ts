import { expect, it } from 'vitest';
import { deploysIn, deployWords } from './deploys.ts';

const hour = { from: '2030-01-01T10:00:00.000Z', stepMs: 60_000, succeeded: [0, 0, 0] };

it('tells what was published within the time, by minutes', () => {
  const published = (key: string, publishedAt: string) => ({ key, version: 2, publishedAt });
  const deploys = deploysIn(hour, [
    published('late', '2030-01-01T10:02:10.000Z'),
    published('b', '2030-01-01T10:01:59.000Z'),
    published('a', '2030-01-01T10:01:01.000Z'),
    published('before', '2030-01-01T09:59:59.000Z'),
    published('after', '2030-01-01T10:03:00.000Z'),
  ]);
  expect(deploys).toEqual([
    { at: '2030-01-01T10:01:00.000Z', names: ['a@2', 'b@2'] },
    { at: '2030-01-01T10:02:00.000Z', names: ['late@2'] },
  ]);
});

it('names a few, and counts the rest', () => {
  const words = deployWords({ at: hour.from, names: ['a@1', 'b@1', 'c@1', 'd@1', 'e@1'] });
  expect(words).toMatch(/^\d\d:00 a@1, b@1, c@1 and 2 more$/);
});
