import { expect, it } from 'vitest';
import { groupsIn, userActor, userOf } from './sso-user.ts';

it.each([
  [{ groups: ['a', 'b', 7] }, 'groups', ['a', 'b']],
  [{ groups: 'a' }, 'groups', ['a']],
  [{ groups: [] }, 'groups', []],
  [{}, 'groups', null],
  [{ groups: { a: 1 } }, 'groups', null],
  [{ realm_access: { roles: ['a'] } }, 'realm_access.roles', ['a']],
  [{ realm_access: null }, 'realm_access.roles', null],
  [{ 'https://example.com/groups': ['a'] }, 'https://example.com/groups', ['a']],
  [{}, 'constructor.name', null],
])('of %j the claim %s names the groups %j', (claims, claim, groups) => {
  expect(groupsIn(claims, claim)).toEqual(groups);
});

it.each([
  [{ name: 'Ada', email: 'ada@example.com' }, 'user:ada@example.com (7)'],
  [{ name: 'Ada', email: 'root@example.com', email_verified: false }, 'user:Ada (7)'],
  [{ preferred_username: 'ada' }, 'user:ada (7)'],
  [{ name: '7' }, 'user:7'],
  [{}, 'user:7'],
  [{ name: 'a\nb\u0000', email: 3 }, 'user:a b (7)'],
])('a user with the claims %j is the actor %s', (claims, actor) => {
  expect(userActor(userOf('https://id.example.com', '7', claims))).toBe(actor);
});
