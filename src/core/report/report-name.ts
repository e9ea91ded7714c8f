/**
 * A stored report is named by its tenant, the last day on which it is stored (UTC) and the SHA-256
 * of its content: `acme.2026-11-23.9f86…`. A flat name, because jobs run as different users, which
 * could not write into each other's folders.
 */
export const REPORT_NAME = /^[a-z0-9][a-z0-9-]{0,62}\.(\d{4}-\d{2}-\d{2})\.[0-9a-f]{64}$/;

/** What the end of a link may be called. */
export const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,149}$/;

export function reportName(tenant: string, expiresAt: Date, sha256: string): string {
  return `${tenant}.${dayOf(expiresAt)}.${sha256}`;
}

export function isReportName(name: string): boolean {
  return REPORT_NAME.test(name);
}

/** Reports are deleted on the day after their last one. */
export function isOutdated(name: string, now: Date): boolean {
  const lastDay = REPORT_NAME.exec(name)?.[1];
  return lastDay !== undefined && lastDay < dayOf(now);
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
