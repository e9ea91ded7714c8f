import { textOf } from '../../words/url-search.ts';

/**
 * Two runs: two jobs, or two attempts of one job if `b` is absent. A claim names an attempt; without
 * it, the last one is meant.
 */
export interface CompareSearch {
  a?: string;
  b?: string;
  claimA?: number;
  claimB?: number;
}

export function compareSearch(search: Record<string, unknown>): CompareSearch {
  const [a, b] = [textOf(search, 'a'), textOf(search, 'b')];
  const [claimA, claimB] = [claimOf(search['claimA']), claimOf(search['claimB'])];
  return {
    ...(a !== undefined && { a }),
    ...(b !== undefined && { b }),
    ...(claimA !== null && { claimA }),
    ...(claimB !== null && { claimB }),
  };
}

function claimOf(value: unknown): number | null {
  const claim = Number(Array.isArray(value) ? value[0] : (value ?? Number.NaN));
  return Number.isSafeInteger(claim) && claim > 0 ? claim : null;
}
