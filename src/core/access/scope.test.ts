import { expect, test } from 'vitest';
import { mayActFor, mayDo, type Scope, SCOPE_NAMES } from './scope.ts';

test('a key may do what its scopes say and nothing else; admin may do everything', () => {
  for (const has of SCOPE_NAMES) {
    for (const wanted of SCOPE_NAMES) {
      expect([has, wanted, mayDo([has], wanted)]).toEqual([
        has,
        wanted,
        has === wanted || has === 'admin',
      ]);
    }
  }
});

test.each<[string, Scope[], string, boolean]>([
  ['acme', ['jobs:read'], 'acme', true],
  ['acme', ['admin'], 'default', false],
  ['acme', ['admin'], 'other', false],
  ['default', ['jobs:read', 'operate'], 'acme', false],
  ['default', ['admin'], 'acme', true],
])('a key of %s with %j may act for %s: %j', (tenant, scopes, other, may) => {
  expect(mayActFor(tenant, scopes, other)).toBe(may);
});
