import type {
  LimitsChange,
  LimitsOverride,
  Limits,
  RateLimit,
} from '../../../../src/core/queue/limits.ts';

import { limitWords } from '../../../../src/core/queue/limit-words.ts';

export { limitsLine, limitWords } from '../../../../src/core/queue/limit-words.ts';

export const LIMIT_TITLES: Record<keyof Limits, string> = {
  concurrencyLimit: 'Concurrency',
  concurrencyKeyLimit: 'Concurrency per key',
  rateLimit: 'Rate limit',
  keyRateLimit: 'Rate limit per key',
  spread: 'Shards',
};

/** A limit, or the number of shards, in words. */
export function settingWords(name: keyof Limits, { [name]: value }: Limits): string {
  return name === 'spread' && value === null ? '1' : limitWords(value);
}

/** Overridden limits as form values. */
export function typedLimits(override: LimitsOverride): Record<keyof Limits, string> {
  const typed = (limit: number | RateLimit | null | undefined) => {
    if (limit === undefined || limit === null) return '';
    if (limit === 0) return 'none';
    if (typeof limit === 'number') return String(limit);
    const burst = limit.burst === limit.limit ? '' : ` burst ${limit.burst}`;
    return `${limit.limit}/${limit.perMs}ms${burst}`;
  };
  return {
    concurrencyLimit: typed(override.concurrencyLimit),
    concurrencyKeyLimit: typed(override.concurrencyKeyLimit),
    rateLimit: typed(override.rateLimit),
    keyRateLimit: typed(override.keyRateLimit),
    spread: typed(override.spread),
  };
}

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const RATE = /^(\d+) *(?:\/|in|per) *(\d*) *(ms|s|m|h)(?: +burst +(\d+))?$/;

type Read = { change: LimitsChange } | { field: keyof Limits; wrong: string };

/** Empty restores the code's value, `none` removes the limit. */
export function readLimits(typed: Record<keyof Limits, string>): Read {
  const change: LimitsChange = {};
  for (const field of ['concurrencyLimit', 'concurrencyKeyLimit'] as const) {
    const text = typed[field].trim();
    if (text !== '' && text !== 'none' && !/^\d+$/.test(text)) {
      return { field, wrong: 'must be a whole number, “none”, or empty to use the code’s value' };
    }
    change[field] = text === '' ? null : text === 'none' ? 0 : Number(text);
  }
  const spread = typed.spread.trim();
  if (spread !== '' && !/^[1-9]\d*$/.test(spread)) {
    return { field: 'spread', wrong: 'must be a whole number, or empty to use the code’s value' };
  }
  change.spread = spread === '' ? null : Number(spread);
  for (const field of ['rateLimit', 'keyRateLimit'] as const) {
    const text = typed[field].trim();
    const [, limit, times, unit, burst] = RATE.exec(text) ?? [];
    if (text === '') change[field] = null;
    else if (text === 'none') change[field] = 0;
    else if (unit === undefined)
      return { field, wrong: 'must look like 100/1m, 5/1s burst 10, or “none”' };
    else {
      const perMs = Number(times || 1) * UNITS_MS[unit as keyof typeof UNITS_MS];
      change[field] = { limit: Number(limit), perMs, ...(burst && { burst: Number(burst) }) };
    }
  }
  return { change };
}
