import type { Config } from '../../config/config.ts';
import { parseGroupRules } from '../../core/identity/group-rules.ts';
import { systemClock } from '../../runtime/clock.ts';
import { SignIn } from '../../identity/sign-in.ts';

/** Null when no identity provider is configured. */
export function localSignIn(config: Config): SignIn | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config;
  const { oidcScopes: scopes, oidcGroupsClaim: groupsClaim, oidcGroups, publicUrl } = config;
  // `config/conflicts.ts` refuses a part of them.
  if (!issuer || !clientId || !clientSecret || !oidcGroups || !publicUrl) return null;
  const parsed = parseGroupRules(oidcGroups);
  const rules = parsed.ok ? parsed.rules : [];
  const client = { issuer, clientId, clientSecret, scopes, groupsClaim };
  return new SignIn({ ...client, publicUrl, rules }, systemClock);
}
