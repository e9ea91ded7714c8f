import { FAILURE_CODES } from '../failure/failure.ts';
import { nearestName } from '../values/nearest.ts';
import type { SearchValues } from './complete.ts';
import { searchTerms, writeTerm } from './search-terms.ts';

/** A value of a search that no job has, and the search with the nearest one that some job has. */
export interface Misspelt {
  typed: string;
  nearest: string;
  corrected: string;
}

/** For a search that found nothing. */
export function misspeltTerms(text: string, known: SearchValues): Misspelt[] {
  return searchTerms(text).flatMap(({ name, value, from, to }) => {
    const values = name === null ? null : valuesOf(name, known);
    if (name === null || values === null || value === '' || value.includes('*')) return [];
    const isPart = name === 'definition' || name === 'owner';
    const typed = value.toLowerCase();
    if (values.some((one) => (isPart ? one.toLowerCase().includes(typed) : one === value)))
      return [];
    const near = nearestName(value, values);
    if (near === null) return [];
    const nearest = writeTerm(name, near);
    const corrected = text.slice(0, from) + nearest + text.slice(to);
    return [{ typed: writeTerm(name, value), nearest, corrected }];
  });
}

/** `no job has code:HANDLER_EROR: did you mean code:HANDLER_ERROR?` */
export function misspeltWords({ typed, nearest }: Misspelt): string {
  return `no job has ${typed}: did you mean ${nearest}?`;
}

function valuesOf(name: string, known: SearchValues): readonly string[] | null {
  switch (name) {
    case 'definition':
      return known.definitions;
    case 'owner':
      return known.owners;
    case 'code':
      return [...known.codes, ...Object.keys(FAILURE_CODES)];
    case 'tag':
      return known.tags;
    default:
      return null;
  }
}
