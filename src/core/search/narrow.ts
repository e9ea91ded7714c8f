import type { JobCriteria } from '../job/job-criteria.ts';
import { type Search, searchOf } from './search.ts';

/** Criteria together with the search text in them. */
export interface Narrowed {
  criteria: JobCriteria;
  search: Search;
}

/**
 * Moves what a list has an index for from the search into the criteria. Null when they contradict
 * each other, so no job can match.
 */
export function narrow(criteria: JobCriteria): Narrowed | null {
  const search = searchOf(criteria.q);
  const { errorCode } = criteria;
  const statuses = meet(criteria.statuses, search.statuses);
  if (statuses === null) return null;
  if (errorCode !== null && search.code !== null && errorCode !== search.code) return null;
  const [first = null, ...others] = search.tags;
  const tag = criteria.tag ?? first;
  const tags = criteria.tag === null ? others : search.tags;
  return {
    criteria: { ...criteria, statuses, tag, errorCode: errorCode ?? search.code },
    search: { ...search, tags },
  };
}

/** Entries of both lists, where an empty list means any; null when none is left. */
export function meet<Item>(one: readonly Item[], other: readonly Item[]): readonly Item[] | null {
  if (one.length === 0 || other.length === 0) return one.length === 0 ? other : one;
  const both = one.filter((item) => other.includes(item));
  return both.length === 0 ? null : both;
}
