import { isLoopback } from '../core/access/bind.ts';
import type { Config } from './config.ts';

/** Same as the trigger in sql/migrations. */
const AUDIT_DAYS_MIN = 30;

/** Budgets of a month need its days. */
const USAGE_DAYS_MIN = 31;

/** Conflicts between settings. */
export function conflicts(config: Config): string[] {
  const { heartbeatMs, leaseMs, redisUrl, redisLeaseMs, auditDays, usageDays } = config;
  const problems: string[] = [];
  if (heartbeatMs > leaseMs / 2) {
    problems.push(
      `LONGSHORE_HEARTBEAT_MS (${heartbeatMs}) must be at most half of LONGSHORE_LEASE_MS ` +
        `(${leaseMs}): otherwise one late heartbeat loses the lease of running jobs`,
    );
  }
  if (redisUrl !== null && redisLeaseMs < leaseMs * 2) {
    problems.push(
      `LONGSHORE_REDIS_LEASE_MS (${redisLeaseMs}) must be at least twice LONGSHORE_LEASE_MS ` +
        `(${leaseMs}): otherwise Redis saves no database writes`,
    );
  }
  if (auditDays > 0 && auditDays < AUDIT_DAYS_MIN) {
    problems.push(
      `LONGSHORE_AUDIT_DAYS (${auditDays}) must be at least ${AUDIT_DAYS_MIN}, or 0 for ever: ` +
        'the database does not delete younger entries',
    );
  }
  if (usageDays > 0 && usageDays < USAGE_DAYS_MIN) {
    problems.push(
      `LONGSHORE_USAGE_DAYS (${usageDays}) must be at least ${USAGE_DAYS_MIN}, or 0 for ever: ` +
        'a budget of a month needs all its days',
    );
  }
  return [...problems, ...signInConflicts(config)];
}

/** With a part of these settings no user could sign in. */
function signInConflicts(config: Config): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret, oidcGroups, oidcScopes, publicUrl } = config;
  const needed = {
    LONGSHORE_OIDC_ISSUER: oidcIssuer,
    LONGSHORE_OIDC_CLIENT_ID: oidcClientId,
    LONGSHORE_OIDC_CLIENT_SECRET: oidcClientSecret,
    LONGSHORE_OIDC_GROUPS: oidcGroups,
  };
  if (Object.values(needed).every((value) => value === null)) return [];
  const all = { ...needed, LONGSHORE_PUBLIC_URL: publicUrl };
  const missing = Object.entries(all).flatMap(([name, value]) => (value === null ? name : []));
  const problems: string[] = [];
  if (missing.length > 0) problems.push(`sign-in by OpenID needs also: ${missing.join(', ')}`);
  if (oidcIssuer !== null && !isSafe(oidcIssuer)) {
    problems.push('LONGSHORE_OIDC_ISSUER must be https: only a provider on loopback may use http');
  }
  if (!oidcScopes.split(/\s+/).includes('openid')) {
    problems.push('LONGSHORE_OIDC_SCOPES must contain openid');
  }
  return problems;
}

function isSafe(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'https:' || isLoopback(hostname);
}
