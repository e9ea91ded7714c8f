import type { DeadLetterGroup } from '../../../../src/core/failure/dead-letter.ts';
import { failureWords } from '../../../../src/core/failure/failure-words.ts';
import { plainText } from '../jobs/log-tail.ts';

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

/** Most frequent first; rows of one definition stay together. With a fingerprint, one error only. */
export function matrixRows(groups: readonly DeadLetterGroup[], fingerprint?: string): MatrixRow[] {
  const shown = groups.filter((one) => (fingerprint ?? one.fingerprint) === one.fingerprint);
  const rows = shown.flatMap(({ definitions, ...group }) =>
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

const NAME_MAX = 60;

/** The code and the message of an error, short enough for a button. */
export function errorName({ code, ...failure }: DeadLetterGroup): string {
  const name = `${code} ${plainText(failureWords(failure, failure.count > 1))}`;
  return name.length > NAME_MAX ? `${name.slice(0, NAME_MAX - 1)}…` : name;
}

const SHADES = 4;

/** Shade of a cell, 0 to 4, on a logarithmic scale: small counts stay visible. */
export function shadeOf(count: number, most: number): number {
  if (count === 0) return 0;
  if (most <= 1) return SHADES;
  return 1 + Math.round((Math.log(count) / Math.log(most)) * (SHADES - 1));
}
