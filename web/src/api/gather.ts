import type { Unsearched } from '../../../src/core/search/unsearched.ts';

/** A page of a list whose searches are bounded. */
export interface SearchedPage<Job> {
  jobs: Job[];
  nextCursor: string | null;
  searchedUntil: string | null;
  /** Params that the words of the search were not compared with. */
  unsearched?: readonly Unsearched[];
}

export interface GatheredPage<Job> extends SearchedPage<Job> {
  /** Number of requests. */
  requests: number;
}

const WANTED = 50;
/** Requests for one page: while nothing was found, and when something was. */
const EMPTY_REQUESTS_MAX = 100;
const REQUESTS_MAX = 20;

/**
 * The server searches a limited number of jobs per request. A search that finds few goes on by
 * itself until the page is full or enough was searched.
 */
export async function gather<Job>(
  read: (cursor: string | undefined, limit: number) => Promise<SearchedPage<Job>>,
  start: string | undefined,
  onProgress: (searchedUntil: string | null) => void = () => undefined,
): Promise<GatheredPage<Job>> {
  const jobs: Job[] = [];
  let page = await read(start, WANTED);
  let requests = 1;
  jobs.push(...page.jobs);
  const isFull = () => jobs.length >= WANTED || page.nextCursor === null;
  while (!isFull() && requests < (jobs.length === 0 ? EMPTY_REQUESTS_MAX : REQUESTS_MAX)) {
    onProgress(page.searchedUntil);
    page = await read(page.nextCursor ?? undefined, WANTED - jobs.length);
    requests += 1;
    jobs.push(...page.jobs);
  }
  return { ...page, jobs, requests };
}
