import type { BulkFilter } from '../../../../src/client/bulk.ts';
import type { DeadLettersAsked, FailureFilter } from '../../api/failure-queries.ts';
import { textOf, writeUrlSearch } from '../../words/url-search.ts';
import { isWindow, type WindowName } from '../../words/alerts/window.ts';

/**
 * Search params of the dead letters screen. `window` moves with time; `from` and `to` fix one part
 * of it.
 */
export interface FailuresSearch {
  window?: WindowName | 'all';
  definitionKey?: string;
  errorCode?: string;
  fingerprint?: string;
  from?: string;
  to?: string;
  q?: string;
  cursor?: string;
}

export const WINDOW_DEFAULT: WindowName = '7d';

const WORDS = ['definitionKey', 'errorCode', 'fingerprint', 'q', 'cursor'] as const;
const TIMES = ['from', 'to'] as const;

export function failuresSearch(search: Record<string, unknown>): FailuresSearch {
  const window = textOf(search, 'window');
  const words = WORDS.map((name) => [name, textOf(search, name)] as const);
  const times = TIMES.map((name) => [name, momentOf(textOf(search, name))] as const);
  const said = [...words, ...times].filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(said) as Partial<FailuresSearch>),
    ...((isWindow(window) || window === 'all') && { window }),
  };
}

function momentOf(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) || ms < 0 ? undefined : new Date(ms).toISOString();
}

/** Groups always cover the whole window. */
export function groupsAsked({
  definitionKey,
  errorCode,
  q,
  window = WINDOW_DEFAULT,
}: FailuresSearch): FailureFilter & { inParts: boolean } {
  const filter = { definitionKey, errorCode, q };
  return window === 'all' ? { ...filter, inParts: false } : { ...filter, window, inParts: true };
}

export function lettersAsked(search: FailuresSearch): DeadLettersAsked {
  const { window: _window, ...rest } = search;
  const { inParts: _inParts, ...whole } = groupsAsked(search);
  return { ...whole, ...rest };
}

/** The same jobs as a bulk filter. `from` is the start of the shown window. */
export function bulkOf(search: FailuresSearch, from: string | null): BulkFilter {
  const { window: _window, cursor: _cursor, from: part, to, ...rest } = search;
  const finishedAfter = part ?? from ?? undefined;
  return { status: ['failed'], ...rest, finishedAfter, finishedBefore: to };
}

/** The same jobs as a filter of an export. */
export function exportOf(search: FailuresSearch, from: string | null) {
  const { definitionKey, errorCode, fingerprint, q } = search;
  const { finishedAfter, finishedBefore } = bulkOf(search, from);
  return {
    status: ['failed'],
    definitionKey,
    errorCode,
    fingerprint,
    q,
    finishedAfter: finishedAfter?.toString(),
    finishedBefore: finishedBefore?.toString(),
  };
}

const FILTERS = ['definitionKey', 'errorCode', 'fingerprint', 'q'] as const;

/** For an empty result: the same search without each one of its filters, and at all times. */
export function withoutOne(search: FailuresSearch): { words: string; search: FailuresSearch }[] {
  const { cursor: _cursor, ...kept } = search;
  const { from, to, ...whole } = kept;
  const isPart = from !== undefined || to !== undefined;
  const ways = FILTERS.filter((name) => kept[name] !== undefined).map((name) => {
    const { [name]: value, ...rest } = kept;
    const words = name === 'fingerprint' ? 'the chosen error' : `“${String(value)}”`;
    return { words: `Without ${words}`, search: rest };
  });
  return [
    ...ways,
    ...(isPart ? [{ words: 'Without the chosen part of the time', search: whole }] : []),
    ...(whole.window === 'all'
      ? []
      : [{ words: 'Show all times', search: { ...whole, window: 'all' as const } }]),
  ];
}

/** The query string of a saved view. A view moves with time, so it has no fixed part of it. */
export function viewQuery(search: FailuresSearch): string {
  const { from: _from, to: _to, cursor: _cursor, ...kept } = search;
  return writeUrlSearch(kept).slice(1);
}
