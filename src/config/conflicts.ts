import type { Config } from './config.ts';

/** Same as the trigger in sql/migrations. */
const AUDIT_DAYS_MIN = 30;

/** Conflicts between settings. */
export function conflicts(config: Config): string[] {
  const { heartbeatMs, leaseMs, redisUrl, redisLeaseMs, auditDays } = config;
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
  return problems;
}
