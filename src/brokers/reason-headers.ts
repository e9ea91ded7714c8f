import type { Refused } from './source.ts';

const DETAIL_MAX = 1_000;

/** What a dead letter says about itself, beside its own headers. */
export function reasonHeaders(
  source: string,
  { code, detail }: Refused,
  position: string | null = null,
): Record<string, string> {
  return {
    'x-longshore-reason': code,
    'x-longshore-detail': detail.slice(0, DETAIL_MAX),
    'x-longshore-source': source,
    ...(position === null ? {} : { 'x-longshore-position': position }),
  };
}
