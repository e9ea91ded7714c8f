import type { JobError, JobView } from '../job/job.ts';

/** A failed job in the list of dead letters. Failures with the same fingerprint form a group. */
export interface DeadLetterView extends JobView {
  fingerprint: string | null;
}

/** One group of failures with the same fingerprint. */
export interface DeadLetterGroup {
  fingerprint: string;
  code: string;
  /** The message of the newest failure. */
  message: string;
  /** The message of its innermost cause; null when it has none. */
  cause: string | null;
  count: number;
  /** False when there are more: the count is bounded. */
  countIsExact: boolean;
  /** The first failure of its jobs, also if they were retried since. */
  firstSeen: string;
  lastSeen: string;
  definitionKeys: string[];
  versions: number[];
  /** The newest failed job. */
  jobId: string;
  /** The number of failures in each part of the window, oldest first; empty unless requested. */
  trend: number[];
  /** The same per definition. */
  definitions: DeadLetterShare[];
}

/** The part of a group that belongs to one definition. */
export interface DeadLetterShare {
  definitionKey: string;
  count: number;
  trend: number[];
}

/** The part of a group that belongs to one queue. */
export interface QueueGroup extends Omit<
  DeadLetterGroup,
  'definitionKeys' | 'versions' | 'definitions'
> {
  definitionKey: string;
  version: number;
}

/** Merges the groups of several queues by fingerprint, most frequent first. */
export function mergeGroups(parts: readonly QueueGroup[]): DeadLetterGroup[] {
  const same = Map.groupBy(parts, ({ fingerprint }) => fingerprint);
  const groups = [...same.values()].flatMap((some) => {
    const newest = some.toSorted((a, b) => (a.lastSeen < b.lastSeen ? 1 : -1))[0];
    if (!newest) return [];
    const { fingerprint, code, message, cause, lastSeen, jobId } = newest;
    const group: DeadLetterGroup = {
      fingerprint,
      code,
      message,
      cause,
      count: some.reduce((sum, { count }) => sum + count, 0),
      countIsExact: some.every(({ countIsExact }) => countIsExact),
      firstSeen: some.map(({ firstSeen }) => firstSeen).sort()[0] ?? lastSeen,
      lastSeen,
      definitionKeys: [...new Set(some.map(({ definitionKey }) => definitionKey))].sort(),
      versions: [...new Set(some.map(({ version }) => version))].sort((a, b) => a - b),
      jobId,
      trend: sumOf(some.map(({ trend }) => trend)),
      definitions: sharesOf(some),
    };
    return [group];
  });
  return groups.sort((a, b) => b.count - a.count || (a.lastSeen < b.lastSeen ? 1 : -1));
}

function sharesOf(parts: readonly QueueGroup[]): DeadLetterShare[] {
  const keys = Map.groupBy(parts, ({ definitionKey }) => definitionKey);
  const shares = [...keys].map(([definitionKey, some]) => ({
    definitionKey,
    count: some.reduce((sum, { count }) => sum + count, 0),
    trend: sumOf(some.map(({ trend }) => trend)),
  }));
  return shares.sort((a, b) => a.definitionKey.localeCompare(b.definitionKey));
}

function sumOf(trends: readonly number[][]): number[] {
  const [first = []] = trends;
  return first.map((_, at) => trends.reduce((sum, trend) => sum + (trend[at] ?? 0), 0));
}

/** The start of each of the equal parts of a window. */
export function partsOf(from: Date, to: Date, parts: number): Date[] {
  const widthMs = (to.getTime() - from.getTime()) / parts;
  return Array.from({ length: parts }, (_, at) => new Date(from.getTime() + at * widthMs));
}

/**
 * Groups dead letters that were read one by one. `begins` is the start of each part of the window.
 */
export function groupLetters(
  letters: readonly DeadLetterView[],
  begins: readonly Date[],
  isExact: boolean,
): DeadLetterGroup[] {
  const queues = Map.groupBy(letters, ({ fingerprint, definitionKey, definitionVersion }) =>
    [fingerprint, definitionKey, definitionVersion].join('\n'),
  );
  const parts = [...queues.values()].flatMap((some): QueueGroup[] => {
    const inOrder = some.toSorted((a, b) => (endOf(a) < endOf(b) ? 1 : -1));
    const [newest] = inOrder;
    if (!newest?.error || newest.fingerprint === null) return [];
    return [
      {
        fingerprint: newest.fingerprint,
        code: newest.error.code,
        message: newest.error.message,
        cause: rootCause(newest.error),
        count: some.length,
        countIsExact: isExact,
        firstSeen: endOf(inOrder.at(-1) ?? newest),
        lastSeen: endOf(newest),
        jobId: newest.jobId,
        trend: trendOf(some, begins),
        definitionKey: newest.definitionKey,
        version: newest.definitionVersion,
      },
    ];
  });
  return mergeGroups(parts);
}

/** The message of the innermost cause; null when there is none. */
export function rootCause({ cause }: JobError): string | null {
  return cause ? (rootCause(cause) ?? cause.message) : null;
}

function endOf({ finishedAt, createdAt }: DeadLetterView): string {
  return finishedAt ?? createdAt;
}

function trendOf(letters: readonly DeadLetterView[], begins: readonly Date[]): number[] {
  const trend = begins.map(() => 0);
  for (const letter of letters) {
    const at = begins.findLastIndex((begin) => begin.getTime() <= Date.parse(endOf(letter)));
    if (at >= 0) trend[at] = (trend[at] ?? 0) + 1;
  }
  return trend;
}
