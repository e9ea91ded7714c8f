import { describe, expect, it, test } from 'vitest';
import { blocksOf, parseAccounts, parseIdMap, parseUidSetting, rotated } from './job-uids.ts';

test.each([
  ['auto', 'auto'],
  [' none ', 'none'],
  ['70000-79999', { first: 70_000, last: 79_999 }],
  ['1000-1000', { first: 1_000, last: 1_000 }],
  ['0-100', null],
  ['2000-1000', null],
  ['1000-4294967295', null],
  ['1000', null],
  ['', null],
])('the setting %j', (text, expected) => expect(parseUidSetting(text)).toEqual(expected));

test.each([
  [0, ['a', 'b', 'c']],
  [2, ['c', 'a', 'b']],
  [4_026_531_834, ['a', 'b', 'c']],
])('all blocks are tried, in an order by seed %j', (seed, expected) => {
  expect(rotated(['a', 'b', 'c'], seed)).toEqual(expected);
  expect(rotated([], seed)).toEqual([]);
});

test('the ids of a user namespace', () => {
  expect(parseIdMap('         0     100000      65536\n')).toEqual([{ first: 0, last: 65_535 }]);
  expect(parseIdMap('')).toEqual([]);
});

describe('the blocks of a range', () => {
  const all = [{ first: 0, last: 4_294_967_294 }];
  const sizes = (blocks: ReturnType<typeof blocksOf>) =>
    blocks.map(({ start, ids }) => [start, ids.length]);

  it('begin at multiples of their size, so that those of ranges which overlap are the same', () => {
    const none = () => false;
    expect(sizes(blocksOf({ first: 70_000, last: 70_100 }, all, none))).toEqual([
      [69_952, 16],
      [70_016, 64],
      [70_080, 21],
    ]);
  });

  it('leave out accounts and ids that are not mapped', () => {
    const accounts = parseAccounts('root:x:0:0::/:/bin/sh\nada:x:70016:70016::/:/bin/sh\nbroken\n');
    expect(accounts.get(70_016)).toBe('ada');
    const blocks = blocksOf({ first: 70_016, last: 70_079 }, all, (id) => accounts.has(id));
    expect(sizes(blocks)).toEqual([[70_016, 63]]);
    expect(
      blocksOf({ first: 70_000, last: 79_999 }, [{ first: 0, last: 65_535 }], () => false),
    ).toEqual([]);
  });
});
