import type { JobState } from './job.ts';

/**
 * Which jobs are meant: what a list can be asked for, and what a bulk action is about, so that the one
 * shows what the other will touch. Null, or no status at all, means any.
 */
export interface JobCriteria {
  statuses: readonly JobState[];
  definitionKey: string | null;
  tag: string | null;
  /** Of its latest failure, like the fingerprint. */
  errorCode: string | null;
  fingerprint: string | null;
  /** From this moment on; `…Before` is up to it, and without it. */
  createdAfter: Date | null;
  createdBefore: Date | null;
  runAfter: Date | null;
  runBefore: Date | null;
  finishedAfter: Date | null;
  finishedBefore: Date | null;
  /** A text that stands in the message of its latest failure, or in its params. */
  q: string | null;
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
};

const SIEVED = [
  'errorCode',
  'fingerprint',
  'runAfter',
  'runBefore',
  'finishedAfter',
  'finishedBefore',
  'q',
] as const satisfies (keyof JobCriteria)[];

/** Whether jobs must be looked at one by one: no index leads to those that fit. */
export function needsSieve(criteria: JobCriteria): boolean {
  return SIEVED.some((name) => criteria[name] !== null);
}
