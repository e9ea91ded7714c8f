import type { DeadLetterGroup } from '../../../../src/core/failure/dead-letter.ts';

/** One definition and one mistake of it, and when it was made. */
export interface MatrixRow {
  definitionKey: string;
  fingerprint: string;
  code: string;
  message: string;
  /** The newest, to look at. */
  jobId: string;
  count: number;
  countIsExact: boolean;
  lastSeen: string;
  counts: number[];
}

/** The most frequent first; the rows of a definition stand together. */
export function matrixRows(groups: readonly DeadLetterGroup[]): MatrixRow[] {
  const rows = groups.flatMap(({ definitions, ...group }) =>
    definitions.map(({ definitionKey, count, trend }) => ({
      definitionKey,
      fingerprint: group.fingerprint,
      code: group.code,
      message: group.message,
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

/** How dark a cell is, from 0 to 4: by its order of magnitude, since a few can matter, too. */
export function shadeOf(count: number, most: number): number {
  if (count === 0) return 0;
  if (most <= 1) return SHADES;
  return 1 + Math.round((Math.log(count) / Math.log(most)) * (SHADES - 1));
}
