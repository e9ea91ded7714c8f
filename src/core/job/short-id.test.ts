import { expect, test } from 'vitest';
import { shardOfJobId } from './job-id.ts';
import { hasIdPart, idPart, idsFrom, shardOfIdEnd, shortId } from './short-id.ts';

const ID = '01a1e665-dd9a-7512-8a86-aa5a8bbba003';

test('the short id is the last group, and says the shard', () => {
  expect(shortId(ID)).toBe('aa5a8bbba003');
  expect(shardOfIdEnd(shortId(ID))).toBe(shardOfJobId(ID));
  expect(hasIdPart(ID, shortId(ID))).toBe(true);
});

test.each([
  ['AA5A8BBBA003', 'aa5a8bbba003'],
  ['8a86-aa5a8bbba003', '8a86aa5a8bbba003'],
  ['01a1', '01a1'],
  ['01a', null],
  ['hello', null],
  ['', null],
  [`${ID}0`, null],
])('%s has the digits %s', (text, digits) => {
  expect(idPart(text)).toBe(digits);
});

test('a beginning is a range of ids', () => {
  expect(idsFrom('01a1e665d')).toEqual([
    '01a1e665-d000-0000-0000-000000000000',
    '01a1e665-dfff-ffff-ffff-ffffffffffff',
  ]);
  expect(hasIdPart(ID, '01a1e665dd')).toBe(true);
  expect(hasIdPart(ID, 'dd9a')).toBe(false);
});
