import { dayTime } from '../moment.ts';

interface Page {
  jobs: readonly unknown[];
  nextCursor: string | null;
  searchedUntil: string | null;
}

type Sort = 'createdAt' | undefined;

const WANTED = 50;

/** Below a list. A short page with more to search says how far it came. */
export function pageWords(
  { jobs, nextCursor, searchedUntil }: Page,
  sort: Sort,
  now: Date,
): string {
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`;
  if (nextCursor === null) return count;
  if (jobs.length >= WANTED || searchedUntil === null) return `${count}, and more`;
  return `${count} so far, ${side(sort)} ${dayTime(searchedUntil, now)}; not all jobs were searched`;
}

/** When nothing was found and not all jobs were searched. */
export function noneYet(searchedUntil: string | null, sort: Sort, now: Date): string {
  if (searchedUntil === null) return 'No matches so far.';
  return `No matches among jobs created ${side(sort)} ${dayTime(searchedUntil, now)}.`;
}

/** The same of dead letters: they are searched from the latest failure on. */
export function noneFailedYet(searchedUntil: string | null, now: Date): string {
  if (searchedUntil === null) return 'No matches so far.';
  return `No matches among failures since ${dayTime(searchedUntil, now)}.`;
}

/** While a search goes on by itself. */
export function progressWords(searchedUntil: string | null, now: Date): string {
  return searchedUntil === null
    ? 'Searching…'
    : `Searching… reached ${dayTime(searchedUntil, now)}`;
}

function side(sort: Sort): string {
  return sort === 'createdAt' ? 'before' : 'since';
}
