import { expect, test } from 'vitest';
import { makeJobId } from '../job/job-id.ts';
import { isInShare, type JobLines, parseJobLines } from './job-log.ts';

test.each<[string, JobLines | null]>([
  ['off', { failures: false, share: 0, errors: false, output: false }],
  ['failures', { failures: true, share: 0, errors: false, output: false }],
  ['all', { failures: true, share: 1, errors: false, output: false }],
  ['0.01', { failures: true, share: 0.01, errors: false, output: false }],
  ['.5', { failures: true, share: 0.5, errors: false, output: false }],
  ['1', { failures: true, share: 1, errors: false, output: false }],
  ['failures+errors', { failures: true, share: 0, errors: true, output: false }],
  ['0.5+errors', { failures: true, share: 0.5, errors: true, output: false }],
  ['all+errors+output', { failures: true, share: 1, errors: true, output: true }],
  ['all+output', { failures: true, share: 1, errors: false, output: true }],
  ['all+output+output', null],
  ['all+noise', null],
  ['off+errors', null],
  ['+errors', null],
  ['1.5', null],
  ['-1', null],
  ['', null],
  ['some', null],
])('"%s" is %j', (text, expected) => expect(parseJobLines(text)).toEqual(expected));

test('a share of jobs is about that share, and the same jobs each time', () => {
  // Random numbers of 26 bits, spread evenly.
  const ids = Array.from({ length: 1_000 }, (_, n) => {
    const random = Math.floor((n / 1_000) * 2 ** 26);
    return makeJobId({
      timeMs: 1_700_000_000_000,
      sequence: 0,
      random: [random, random],
      shard: 0,
    });
  });
  const sampled = (share: number) => ids.filter((id) => isInShare(id, share)).length;
  expect([sampled(0), sampled(1)]).toEqual([0, 1_000]);
  expect(sampled(0.1)).toBeGreaterThan(50);
  expect(sampled(0.1)).toBeLessThan(200);
  expect(ids.filter((id) => isInShare(id, 0.1)).every((id) => isInShare(id, 0.2))).toBe(true);
});
