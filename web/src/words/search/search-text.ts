import { isJobId } from '../../../../src/core/job/job-id.ts';
import type { JobState } from '../../../../src/core/job/job.ts';
import { ANY_SEARCH, readSearch, writeSearch } from '../../../../src/core/search/search.ts';

/** The parts of a search as the address of the list has them. */
export interface Wanted {
  status?: JobState[];
  definitionKey?: string;
  tag?: string;
  errorCode?: string;
  /** The rest of the search. */
  q?: string;
}

export type Reading = { jobId: string } | { wanted: Wanted } | { problem: string };

/**
 * Reads the text of the search field. What the address has a parameter for becomes that parameter:
 * tabs and links use the same ones. A job id opens its job.
 */
export function readSearchText(text: string, keys: readonly string[]): Reading {
  const typed = text.trim();
  if (isJobId(typed.toLowerCase())) return { jobId: typed.toLowerCase() };
  const reading = readSearch(typed);
  if ('problem' in reading) return reading;
  const { search } = reading;
  const [tag, ...tags] = search.tags;
  const definitionKey = search.definitions.length === 1 ? search.definitions[0] : undefined;
  const isKey = definitionKey !== undefined && keys.includes(definitionKey);
  const named = isKey
    ? undefined
    : search.words.find(({ text: word, quoted }) => !quoted && keys.includes(word));
  const rest = writeSearch({
    ...search,
    statuses: [],
    code: null,
    tags,
    definitions: isKey ? [] : search.definitions,
    words: search.words.filter((word) => word !== named),
  });
  const key = isKey ? definitionKey : named?.text;
  return {
    wanted: {
      ...(search.statuses.length > 0 && { status: [...search.statuses] }),
      ...(key !== undefined && { definitionKey: key }),
      ...(tag !== undefined && { tag }),
      ...(search.code !== null && { errorCode: search.code }),
      ...(rest !== '' && { q: rest }),
    },
  };
}

/** The text of the search field. The state is shown by the tabs. */
export function writeSearchText({ definitionKey, tag, errorCode, q }: Wanted): string {
  const named = writeSearch({
    ...ANY_SEARCH,
    definitions: definitionKey === undefined ? [] : [definitionKey],
    code: errorCode ?? null,
    tags: tag === undefined ? [] : [tag],
  });
  return [named, q ?? ''].filter((part) => part !== '').join(' ');
}
