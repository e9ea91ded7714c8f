import { fallback, named, type Setting } from './setting.ts';

/** Sign-in through an identity provider (docs/operate/sign-in.md). */
export const SIGN_IN_SETTINGS: readonly Setting[] = [
  {
    ...named('oidcIssuer', 'LONGSHORE_OIDC_ISSUER', 'server', 'url'),
    kind: { type: 'url', protocols: ['https:', 'http:'], keepsSlash: true },
    ...fallback(null, 'none: sign-in with API keys only'),
    meaning:
      'Issuer of an OpenID provider, such as `https://id.example.com/realms/work`, for sign-in to ' +
      'the dashboard. Anonymous access ends (docs/operate/sign-in.md).',
  },
  {
    ...named('oidcClientId', 'LONGSHORE_OIDC_CLIENT_ID', 'server', 'id'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    meaning: 'Client id of Longshore at the OpenID provider.',
  },
  {
    ...named('oidcClientSecret', 'LONGSHORE_OIDC_CLIENT_SECRET', 'server', 'secret'),
    kind: { type: 'text' },
    ...fallback(null, 'none'),
    secret: true,
    meaning: 'Secret of the client; the same for all API processes.',
  },
  {
    ...named('oidcGroups', 'LONGSHORE_OIDC_GROUPS', 'server', 'rules'),
    kind: { type: 'groups' },
    ...fallback(null, 'none'),
    meaning:
      'Scopes of the members of groups, such as `ops=admin,dev=jobs:read+jobs:write`, and their ' +
      'tenant if it is not `default`: `acme-team=jobs:read@acme`.',
  },
  {
    ...named('oidcGroupsClaim', 'LONGSHORE_OIDC_GROUPS_CLAIM', 'server', 'name'),
    kind: { type: 'text' },
    ...fallback('groups'),
    meaning: 'Claim with the groups of a user; a path such as `realm_access.roles` also works.',
  },
  {
    ...named('oidcScopes', 'LONGSHORE_OIDC_SCOPES', 'server', 'scopes'),
    kind: { type: 'text' },
    ...fallback('openid profile email'),
    meaning:
      'Scopes that Longshore requests from the OpenID provider; some need `groups` here to send ' +
      'the groups.',
  },
];
