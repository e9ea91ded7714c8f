import { describe, expect, it } from 'vitest';
import { chooseRights, parseGroupRules, rightsOf } from './group-rules.ts';

const rulesOf = (text: string) => {
  const parsed = parseGroupRules(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.rules;
};

describe('group rules', () => {
  it.each([
    ['ops=admin', [{ group: 'ops', scopes: ['admin'], tenant: 'default' }]],
    [
      ' dev = jobs:read + jobs:write , acme=jobs:read@acme',
      [
        { group: 'dev', scopes: ['jobs:read', 'jobs:write'], tenant: 'default' },
        { group: 'acme', scopes: ['jobs:read'], tenant: 'acme' },
      ],
    ],
    [
      '/Job Admins=operate,CN=ops%2CDC=example=admin,100%25=jobs:read',
      [
        { group: '/Job Admins', scopes: ['operate'], tenant: 'default' },
        { group: 'CN=ops,DC=example', scopes: ['admin'], tenant: 'default' },
        { group: '100%', scopes: ['jobs:read'], tenant: 'default' },
      ],
    ],
  ])('reads %j', (text, rules) => expect(rulesOf(text)).toEqual(rules));

  it.each([
    ['', 'entry 1 is not a group, = and scopes'],
    ['ops=admin,', 'entry 2 is not a group, = and scopes'],
    ['=admin', 'entry 1 is not a group, = and scopes'],
    ['ops', 'entry 1 is not a group, = and scopes'],
    ['ops=admin@', 'entry 1 is not a group, = and scopes'],
    ['a%=admin', 'entry 1 is not a group, = and scopes'],
    ['ops=job:read', 'unknown scope "job:read": did you mean "jobs:read"?'],
    ['ops=admin+', 'unknown scope ""'],
    ['ops=admin@ACME', '"ACME" cannot be a tenant'],
  ])('refuses %j', (text, problem) => {
    expect(parseGroupRules(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});

describe('the rights of a user', () => {
  const rules = rulesOf(
    'dev=jobs:write,all=jobs:read,acme=jobs:read@acme,rival=operate@rival,ops=admin',
  );
  it.each([
    [[], []],
    [['Dev', 'unknown'], []],
    [['all', 'dev'], [{ tenant: 'default', scopes: ['jobs:read', 'jobs:write'] }]],
    [
      ['rival', 'acme'],
      [
        { tenant: 'acme', scopes: ['jobs:read'] },
        { tenant: 'rival', scopes: ['operate'] },
      ],
    ],
  ])('in the groups %j', (groups, rights) => expect(rightsOf(groups, rules)).toEqual(rights));

  it.each([
    [['dev'], null, 'default'],
    [['acme'], null, 'acme'],
    [['acme', 'rival'], null, undefined],
    [['acme', 'dev'], null, undefined],
    [['acme', 'ops'], null, 'default'],
    [['acme', 'rival'], 'rival', 'rival'],
    [['acme', 'ops'], 'acme', 'acme'],
    [['acme'], 'rival', undefined],
    [[], null, undefined],
  ])('of %j who wants %j is for the tenant %j', (groups, wanted, tenant) => {
    expect(chooseRights(rightsOf(groups, rules), wanted)?.tenant).toBe(tenant);
  });
});
