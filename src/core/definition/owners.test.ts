import { expect, it } from 'vitest';
import { madeDefinition } from '../../../web/src/words/made.fixture.ts';
import { newestVersions, ownersOf, ownerWords, runbooksOf } from './owners.ts';

it('asks the newest version, and names each owner once', () => {
  const owners = ownersOf([
    madeDefinition({ key: 'a', version: 2, owner: 'new team' }),
    madeDefinition({ key: 'a', version: 1, owner: 'old team' }),
    madeDefinition({ key: 'b', owner: 'new team' }),
    madeDefinition({ key: 'c' }),
  ]);
  expect(ownerWords(owners, ['a', 'b', '$hook:a'])).toBe('new team');
  expect(ownerWords(owners, ['c', 'unknown'])).toBe('No owner');
});

it('takes the runbook of the newest version that has one', () => {
  const runbooks = runbooksOf([
    madeDefinition({ key: 'a', version: 3 }),
    madeDefinition({ key: 'a', version: 2, runbookUrl: 'https://new' }),
    madeDefinition({ key: 'a', version: 1, runbookUrl: 'https://old' }),
  ]);
  expect([...runbooks]).toEqual([['a', 'https://new']]);
});

it('finds the newest version of each key', () => {
  const all = [
    madeDefinition({ key: 'b', version: 2 }),
    madeDefinition({ key: 'b', version: 10 }),
    madeDefinition({ key: 'a' }),
  ];
  expect(newestVersions(all).map(({ key, version }) => [key, version])).toEqual([
    ['a', 1],
    ['b', 10],
  ]);
});
