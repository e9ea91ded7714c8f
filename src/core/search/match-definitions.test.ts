import { expect, it } from 'vitest';
import { matchDefinitions, needsDefinitions } from './match-definitions.ts';
import { searchOf } from './search.ts';

const KNOWN = [
  { key: 'mail', owner: 'team-mail' },
  { key: 'mail.bulk', owner: 'team-mail-bulk' },
  { key: 'crm.sync', owner: 'Sales' },
  { key: 'a*b', owner: null },
];

it.each([
  ['definition:mail', ['mail'], []],
  ['definition:mail*', ['mail', 'mail.bulk'], []],
  ['definition:*a*b*k', ['mail.bulk'], []],
  ['definition:ail', ['mail', 'mail.bulk'], []],
  ['definition:CRM', ['crm.sync'], []],
  ['definition:a*b', ['a*b'], []],
  ['definition:mail*mail', [], []],
  ['definition:mail definition:crm', ['mail', 'crm.sync'], []],
  ['owner:team-mail', ['mail'], []],
  ['owner:team', ['mail', 'mail.bulk'], []],
  ['owner:sales', ['crm.sync'], []],
  ['owner:team definition:bulk', ['mail.bulk'], []],
  ['owner:none-such', [], []],
  ['mail', ['mail'], []],
  ['mail timeout', ['mail'], ['timeout']],
  ['mail crm.sync', [], []],
  ['"mail"', ['mail', 'mail.bulk', 'crm.sync', 'a*b'], ['mail']],
  ['crm', ['mail', 'mail.bulk', 'crm.sync', 'a*b'], ['crm']],
])('%s', (text, keys, words) => {
  const found = matchDefinitions(searchOf(text), KNOWN);
  expect(KNOWN.filter(found.matches).map(({ key }) => key)).toEqual(keys);
  expect(found.words).toEqual(words);
});

it.each([
  ['status:failed code:TIMEOUT tag:a "quoted"', false],
  ['owner:a', true],
  ['word', true],
])('knows whether %s needs the definitions', (text, expected) => {
  expect(needsDefinitions(searchOf(text))).toBe(expected);
});
