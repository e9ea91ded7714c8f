import type { Config } from './config.ts';

/** As the trigger of the table says (sql/migrations). */
const AUDIT_DAYS_MIN = 30;

/** What each value allows, but the values together do not. */
export function conflicts(config: Config): string[] {
  const { heartbeatMs, leaseMs, redisUrl, redisLeaseMs, auditDays } = config;
  const problems: string[] = [];
  if (heartbeatMs > leaseMs / 2) {
    problems.push(
      `LONGSHORE_HEARTBEAT_MS (${heartbeatMs}) must be at most half of LONGSHORE_LEASE_MS ` +
        `(${leaseMs}): otherwise one late heartbeat gives running jobs to another worker`,
    );
  }
  if (redisUrl !== null && redisLeaseMs < leaseMs * 2) {
    problems.push(
      `LONGSHORE_REDIS_LEASE_MS (${redisLeaseMs}) must be at least twice LONGSHORE_LEASE_MS ` +
        `(${leaseMs}): otherwise Redis spares the database nothing`,
    );
  }
  if (auditDays > 0 && auditDays < AUDIT_DAYS_MIN) {
    problems.push(
      `LONGSHORE_AUDIT_DAYS (${auditDays}) must be at least ${AUDIT_DAYS_MIN}, or 0 for ever: ` +
        'the database keeps younger entries whatever is asked',
    );
  }
  return problems;
}
