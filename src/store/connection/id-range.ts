import type { JobCriteria } from '../../core/job/job-criteria.ts';
import { isJobId, jobIdFloor } from '../../core/job/job-id.ts';

export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Maximum by which the clock of a process may be ahead, and so its ids. */
const CLOCK_SLACK_MS = 24 * 3_600_000;

/** The half-open range of ids for these times and this cursor. */
export function idRange(
  { createdAfter, createdBefore }: JobCriteria,
  newestFirst: boolean,
  afterId: string | null,
  asOf: string | null,
): [low: string, high: string] {
  let low = createdAfter ? jobIdFloor(createdAfter.getTime()) : FIRST_ID;
  let high = createdBefore ? jobIdFloor(createdBefore.getTime()) : LAST_ID;
  const newest = asOf ? jobIdFloor(Date.parse(asOf) + CLOCK_SLACK_MS) : LAST_ID;
  if (newest < high) high = newest;
  const after = afterId !== null && isJobId(afterId) ? afterId : null;
  if (after && newestFirst && after < high) high = after;
  if (after && !newestFirst && after >= low) low = successor(after);
  return [low, high];
}

function successor(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
