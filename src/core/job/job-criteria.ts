import type { JobState } from './job.ts';

/**
 * A filter of jobs, for lists and for bulk actions, so that the list shows what the action will
 * change. Null, or no status, means any.
 */
export interface JobCriteria {
  statuses: readonly JobState[];
  definitionKey: string | null;
  tag: string | null;
  /** Of the latest failure, like the fingerprint. */
  errorCode: string | null;
  fingerprint: string | null;
  /** Inclusive; `…Before` is exclusive. */
  createdAfter: Date | null;
  createdBefore: Date | null;
  runAfter: Date | null;
  runBefore: Date | null;
  finishedAfter: Date | null;
  finishedBefore: Date | null;
  /** A search (`core/search/search.ts`). */
  q: string | null;
  /** Only these jobs. */
  jobIds: readonly string[] | null;
}

export const ANY_JOB: JobCriteria = {
  statuses: [],
  definitionKey: null,
  tag: null,
  errorCode: null,
  fingerprint: null,
  createdAfter: null,
  createdBefore: null,
  runAfter: null,
  runBefore: null,
  finishedAfter: null,
  finishedBefore: null,
  q: null,
  jobIds: null,
};

const UNINDEXED = [
  'errorCode',
  'fingerprint',
  'runAfter',
  'runBefore',
  'finishedAfter',
  'finishedBefore',
] as const satisfies (keyof JobCriteria)[];

/** Whether jobs must be filtered one by one, because no index finds the matching ones. */
export function needsFilter(criteria: JobCriteria): boolean {
  return UNINDEXED.some((name) => criteria[name] !== null);
}

/** The maximum number of jobs that are named one by one. */
export const JOB_IDS_MAX = 1_000;
