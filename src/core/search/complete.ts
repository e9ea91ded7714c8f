import { JOB_STATES } from '../job/job.ts';
import { SEARCH_FILTERS, type SearchFilter } from './search.ts';
import { type SearchTerm, searchTerms, writeTerm } from './search-terms.ts';

/** Names that exist, to complete a search with. */
export interface SearchValues {
  definitions: readonly string[];
  owners: readonly string[];
  codes: readonly string[];
  tags: readonly string[];
}

export interface Completion {
  /** What replaces the text from `from` to `to`. */
  text: string;
  /** What the filter means; null for values. */
  hint: string | null;
}

export interface Completions {
  from: number;
  to: number;
  options: Completion[];
}

const OPTIONS_MAX = 10;

/** The ways to go on with a search at the caret. */
export function completionsAt(text: string, caret: number, known: SearchValues): Completions {
  const term = searchTerms(text).find(({ from, to }) => from <= caret && caret <= to);
  if (!term) return { from: caret, to: caret, options: filters('') };
  const { from, to } = term;
  const typed = typedUntil(text, caret, term);
  const options = term.name === null ? ofWord(typed, term, known) : ofFilter(term, typed, known);
  const spaced = text[to] === ' ';
  const fresh = options
    .filter((option) => option.text.trim() !== text.slice(from, to))
    .map((option) => (spaced ? { ...option, text: option.text.trimEnd() } : option));
  return { from, to, options: fresh.slice(0, OPTIONS_MAX) };
}

function typedUntil(text: string, caret: number, { valueFrom }: SearchTerm): string {
  return text.slice(valueFrom, Math.max(caret, valueFrom)).replace(/^"/, '');
}

function ofWord(typed: string, { quoted }: SearchTerm, known: SearchValues): Completion[] {
  if (quoted || typed === '') return quoted ? [] : filters('');
  const valuesOf = (name: SearchFilter) =>
    fitting(values(name, known), typed).map((value) => completed(name, value));
  return [
    ...filters(typed),
    ...valuesOf('definition'),
    ...valuesOf('owner'),
    ...valuesOf('code'),
    ...valuesOf('tag'),
    ...valuesOf('status'),
  ];
}

/** Of a list of states, the last one is completed. */
function ofFilter({ name }: SearchTerm, typed: string, known: SearchValues): Completion[] {
  if (name === null || !Object.hasOwn(SEARCH_FILTERS, name)) return [];
  const filter = name as SearchFilter;
  const listed = filter === 'status' ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const last = typed.slice(listed.length);
  return fitting(values(filter, known), last).map((value) => completed(filter, listed + value));
}

function filters(typed: string): Completion[] {
  return Object.entries(SEARCH_FILTERS)
    .filter(([name]) => name.startsWith(typed.toLowerCase()))
    .map(([name, hint]) => ({ text: `${name}:`, hint }));
}

function values(filter: SearchFilter, known: SearchValues): readonly string[] {
  switch (filter) {
    case 'status':
      return JOB_STATES;
    case 'definition':
      return known.definitions;
    case 'owner':
      return known.owners;
    case 'code':
      return known.codes;
    case 'tag':
      return known.tags;
    case 'id':
    case 'worker':
      return [];
  }
}

/** Values that begin with the text come before those that contain it. */
function fitting(all: readonly string[], typed: string): string[] {
  const wanted = typed.toLowerCase();
  const places = all.map((value) => [value, value.toLowerCase().indexOf(wanted)] as const);
  const begins = places.filter(([, at]) => at === 0);
  const contains = places.filter(([, at]) => at > 0);
  return [...begins, ...contains].map(([value]) => value);
}

function completed(name: SearchFilter, value: string): Completion {
  return { text: `${writeTerm(name, value)} `, hint: null };
}
