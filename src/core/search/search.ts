import { FAILURE_CODES } from '../failure/failure.ts';
import { JOB_STATES, type JobState } from '../job/job.ts';
import { ID_PART_MIN, idPart } from '../job/short-id.ts';
import { unknownName } from '../values/nearest.ts';
import { type SearchTerm, searchTerms, writeTerm } from './search-terms.ts';

/**
 * The search language of lists: API (`q`), command line and dashboard. A job matches when all terms
 * do. Several values of `status`, `definition` or `owner` are alternatives.
 */
export const SEARCH_FILTERS = {
  status: 'a state, or several: failed,retrying',
  definition: 'a definition: its key, or a part of it; * stands for any characters',
  owner: 'the owner of the definition, or a part of it',
  code: 'the code of the latest error',
  tag: 'a tag of the job',
  id: 'the beginning or the end of the job id',
  worker: 'the beginning of the id of the worker that ran it last',
} as const;

export type SearchFilter = keyof typeof SEARCH_FILTERS;

export interface Search {
  statuses: readonly JobState[];
  definitions: readonly string[];
  owners: readonly string[];
  code: string | null;
  /** The job has all of them. */
  tags: readonly string[];
  /** Hex digits. */
  id: string | null;
  worker: string | null;
  /** Each is in the definition key, the tags, the latest error with its causes, or the params. */
  words: readonly SearchWord[];
}

export interface SearchWord {
  text: string;
  quoted: boolean;
}

export const ANY_SEARCH: Search = {
  statuses: [],
  definitions: [],
  owners: [],
  code: null,
  tags: [],
  id: null,
  worker: null,
  words: [],
};

export type SearchReading = { search: Search } | { problem: string };

export const SEARCH_TERMS_MAX = 20;

export function readSearch(text: string): SearchReading {
  const terms = searchTerms(text);
  if (terms.length > SEARCH_TERMS_MAX) {
    return { problem: `has ${terms.length} terms: at most ${SEARCH_TERMS_MAX} are allowed` };
  }
  const search = {
    ...ANY_SEARCH,
    statuses: [] as JobState[],
    definitions: [] as string[],
    owners: [] as string[],
    tags: [] as string[],
    words: [] as SearchWord[],
  };
  for (const one of terms) {
    const term = sentencePart(one);
    const problem = problemOf(term) ?? add(search, term);
    if (problem !== null) return { problem };
  }
  return { search };
}

/** For a text that was read before, or none. */
export function searchOf(text: string | null): Search {
  const reading = text === null ? { search: ANY_SEARCH } : readSearch(text);
  if ('problem' in reading) throw new Error(`invalid search: ${reading.problem}`);
  return reading.search;
}

/** Whether jobs must be read, because the search is about more than states, definitions and codes. */
export function needsJobs(text: string): boolean {
  const { words, tags, id, worker } = searchOf(text);
  return words.length > 0 || tags.length > 0 || id !== null || worker !== null;
}

export function writeSearch(search: Search): string {
  const named = (name: SearchFilter, values: readonly (string | null)[]) =>
    values.flatMap((value) => (value === null ? [] : [writeTerm(name, value)]));
  return [
    ...named('status', search.statuses.length > 0 ? [search.statuses.join(',')] : []),
    ...named('definition', search.definitions),
    ...named('owner', search.owners),
    ...named('code', [search.code]),
    ...named('tag', search.tags),
    ...named('id', [search.id]),
    ...named('worker', [search.worker]),
    ...search.words.map(({ text, quoted }) => writeTerm(null, text, quoted)),
  ].join(' ');
}

/** `TypeError: x is not a function` is text, although a colon follows the word. */
function sentencePart(term: SearchTerm): SearchTerm {
  const { name, value, quoted } = term;
  const isText = name !== null && value === '' && !quoted && !Object.hasOwn(SEARCH_FILTERS, name);
  return isText ? { ...term, name: null, value: `${name}:` } : term;
}

function problemOf({ name, value, closed }: SearchTerm): string | null {
  if (!closed) return `a quotation mark is missing after ${JSON.stringify(value)}`;
  if (name !== null && !Object.hasOwn(SEARCH_FILTERS, name)) {
    const unknown = unknownName('filter', name, Object.keys(SEARCH_FILTERS));
    return `${unknown} (to search for the text, write ${writeTerm(null, `${name}:${value}`)})`;
  }
  if (value !== '') return null;
  return name === null ? 'has no text between quotation marks' : `${name}: needs a value`;
}

type Growing = Search & {
  statuses: JobState[];
  definitions: string[];
  owners: string[];
  tags: string[];
  words: SearchWord[];
};

/** Adds a term. Returns what is wrong with its value. */
function add(search: Growing, { name, value, quoted }: SearchTerm): string | null {
  switch (name as SearchFilter | null) {
    case null:
      search.words.push({ text: value, quoted });
      return null;
    case 'status':
      return addStatuses(search.statuses, value);
    case 'definition':
      search.definitions.push(value);
      return null;
    case 'owner':
      search.owners.push(value);
      return null;
    case 'tag':
      search.tags.push(value);
      return null;
    case 'code':
      return once(search, 'code', knownCode(value));
    case 'id':
      return once(search, 'id', idPart(value), `needs ${ID_PART_MIN} to 32 hex digits of a job id`);
    case 'worker':
      return once(search, 'worker', workerPart(value), 'needs hex digits of a worker id');
  }
}

function once(
  search: Growing,
  name: 'code' | 'id' | 'worker',
  value: string | null,
  rule = '',
): string | null {
  if (value === null) return `${name}: ${rule}`;
  if (search[name] !== null && search[name] !== value) return `${name}: can be given only once`;
  search[name] = value;
  return null;
}

function addStatuses(statuses: JobState[], value: string): string | null {
  for (const one of value.toLowerCase().split(/[,|]/)) {
    const state = JOB_STATES.find((known) => known === one);
    if (state === undefined) return `status: ${unknownName('status', one, JOB_STATES)}`;
    if (!statuses.includes(state)) statuses.push(state);
  }
  return null;
}

/** Codes of the product are found in any case; those of jobs are as the job wrote them. */
function knownCode(value: string): string {
  const upper = value.toUpperCase();
  return Object.hasOwn(FAILURE_CODES, upper) ? upper : value;
}

function workerPart(value: string): string | null {
  return /^[0-9a-f-]{1,36}$/i.test(value) ? value.toLowerCase() : null;
}
