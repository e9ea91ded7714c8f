import type { Config } from './schema.ts';

/** What each value allows, but the values together do not. */
export function conflicts({ heartbeatMs, leaseMs, redisUrl, redisLeaseMs }: Config): string[] {
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
  return problems;
}
