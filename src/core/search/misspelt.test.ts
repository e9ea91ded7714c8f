import { expect, test } from 'vitest';
import { misspeltTerms, misspeltWords } from './misspelt.ts';

const KNOWN = {
  definitions: ['orders.import', 'report.nightly'],
  owners: ['team-orders', 'billing team'],
  codes: ['CARD_DECLINED'],
  tags: ['customer-17'],
};

test.each([
  ['definition:order.import', 'definition:orders.import'],
  ['status:failed owner:team-ordres x', 'status:failed owner:team-orders x'],
  ['owner:"biling team"', 'owner:"billing team"'],
  ['code:HANDLER_EROR', 'code:HANDLER_ERROR'],
  ['code:CARD_DECLINE', 'code:CARD_DECLINED'],
  ['tag:custmer-17', 'tag:customer-17'],
])('%s should be %s', (text, corrected) => {
  expect(misspeltTerms(text, KNOWN).map((one) => one.corrected)).toEqual([corrected]);
});

test.each([
  'definition:orders.import',
  'definition:ORDERS',
  'definition:order*.import',
  'owner:orders',
  'code:TIMEOUT tag:customer-17',
  'tag:nothing-like-it',
  'order.import status:failed id:0198',
])('%s is not misspelt', (text) => {
  expect(misspeltTerms(text, KNOWN)).toEqual([]);
});

test('words say what is unknown and what is near', () => {
  const [one] = misspeltTerms('code:TIMEOT', KNOWN);
  expect(one && misspeltWords(one)).toBe('no job has code:TIMEOT: did you mean code:TIMEOUT?');
});
