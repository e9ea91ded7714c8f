import type { DeadLetterGroup } from '../../../../src/core/failure/dead-letter.ts';

/** One definition and one of its errors, by time. */
export interface MatrixRow {
  definitionKey: string;
  fingerprint: string;
  code: string;
  message: string;
  cause: string | null;
  /** The newest job with this error. */
  jobId: string;
  count: number;
  countIsExact: boolean;
  lastSeen: string;
  counts: number[];
}

/** Most frequent first; rows of one definition stay together. */
export function matrixRows(groups: readonly DeadLetterGroup[]): MatrixRow[] {
  const rows = groups.flatMap(({ definitions, ...group }) =>
    definitions.map(({ definitionKey, count, trend }) => ({
      definitionKey,
      fingerprint: group.fingerprint,
      code: group.code,
      message: group.message,
      cause: group.cause,
      jobId: group.jobId,
      count,
      countIsExact: group.countIsExact,
      lastSeen: group.lastSeen,
      counts: trend,
    })),
  );
  const totals = new Map<string, number>();
  for (const { definitionKey, count } of rows) {
    totals.set(definitionKey, (totals.get(definitionKey) ?? 0) + count);
  }
  const total = ({ definitionKey }: MatrixRow) => totals.get(definitionKey) ?? 0;
  return rows.sort(
    (a, b) =>
      total(b) - total(a) || a.definitionKey.localeCompare(b.definitionKey) || b.count - a.count,
  );
}

const SHADES = 4;

/** Shade of a cell, 0 to 4, on a logarithmic scale: small counts stay visible. */
export function shadeOf(count: number, most: number): number {
  if (count === 0) return 0;
  if (most <= 1) return SHADES;
  return 1 + Math.round((Math.log(count) / Math.log(most)) * (SHADES - 1));
}
