import { unknownName } from '../values/nearest.ts';
import { YEAR_MS } from '../values/duration.ts';

/**
 * How much of something may go on at a time, and how often it may begin. The code of a definition says
 * it, and people can say otherwise while everything runs; then their word counts until they take it
 * back. Everywhere 0 means "no limit", which is how a person lifts a limit that the code sets.
 */

/** Of `limit` per `perMs` milliseconds, at most `burst` at once after a quiet time. */
export interface RateLimit {
  limit: number;
  perMs: number;
  burst: number;
}

/** Null means no limit. Those of keys hold for each concurrency key by itself. */
export interface Limits {
  concurrencyLimit: number | null;
  concurrencyKeyLimit: number | null;
  rateLimit: RateLimit | null;
  keyRateLimit: RateLimit | null;
}

/** How people write a rate; `burst` is `limit` unless they say. */
export type RateLimitInput = 0 | { limit: number; perMs: number; burst?: number | undefined };

export interface LimitsInput {
  concurrencyLimit?: number | undefined;
  concurrencyKeyLimit?: number | undefined;
  rateLimit?: RateLimitInput | undefined;
  keyRateLimit?: RateLimitInput | undefined;
}

/** A change: null takes a person's word back, what is left out stays as it is. */
export type LimitsChange = { [Name in keyof LimitsInput]?: LimitsInput[Name] | null };

/** What people set, as it is stored: 0 for "no limit". */
export type LimitsOverride = { [Name in keyof Limits]?: Limits[Name] | 0 };

export const NO_LIMITS: Limits = {
  concurrencyLimit: null,
  concurrencyKeyLimit: null,
  rateLimit: null,
  keyRateLimit: null,
};

export const LIMIT_NAMES = Object.keys(NO_LIMITS) as (keyof Limits)[];
export const CONCURRENCY_LIMIT_MAX = 1_000_000;
export const RATE_MAX = 1_000_000_000;
export const PER_MS_MAX = YEAR_MS;
export const CONCURRENCY_KEY_MAX = 255;

export class LimitError extends Error {
  override name = 'LimitError';
}

/** Fills in the defaults and refuses what cannot work, in a sentence that names the field. */
export function limitsOf(input: LimitsInput): Limits {
  const { concurrencyLimit, concurrencyKeyLimit, rateLimit, keyRateLimit } = input;
  return {
    concurrencyLimit: countOf('concurrencyLimit', concurrencyLimit) || null,
    concurrencyKeyLimit: countOf('concurrencyKeyLimit', concurrencyKeyLimit) || null,
    rateLimit: rateOf('rateLimit', rateLimit) || null,
    keyRateLimit: rateOf('keyRateLimit', keyRateLimit) || null,
  };
}

/** What people want instead, after one more change. */
export function changedOverride(override: LimitsOverride, change: LimitsChange): LimitsOverride {
  for (const name of Object.keys(change)) {
    if (!(LIMIT_NAMES as string[]).includes(name)) {
      throw new LimitError(unknownName('limit', name, LIMIT_NAMES));
    }
  }
  const checked = limitsOf(withoutNulls(change));
  const kept = LIMIT_NAMES.flatMap((name) => {
    const asked = change[name];
    const value = asked === undefined ? override[name] : asked === null ? undefined : checked[name];
    return value === undefined ? [] : [[name, value ?? 0]];
  });
  return Object.fromEntries(kept) as LimitsOverride;
}

/** What holds: a person's word, else what the code says. */
export function effectiveLimits(code: Limits, override: LimitsOverride): Limits {
  const pick = <Name extends keyof Limits>(name: Name): Limits[Name] => {
    const asked = override[name];
    return asked === undefined ? code[name] : ((asked || null) as Limits[Name]);
  };
  return {
    concurrencyLimit: pick('concurrencyLimit'),
    concurrencyKeyLimit: pick('concurrencyKeyLimit'),
    rateLimit: pick('rateLimit'),
    keyRateLimit: pick('keyRateLimit'),
  };
}

/**
 * The part of a limit that one shard enforces. Shards know nothing of each other, so a limit of a
 * whole definition or tenant is divided, and the first shards get what does not divide evenly. The
 * keys of a tenant and a definition live in one shard, so theirs stay whole.
 */
export function shareOf(limits: Limits, shard: number, shards: number): Limits {
  const share = (whole: number) => Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0);
  const { concurrencyLimit: count, rateLimit: rate } = limits;
  return {
    ...limits,
    concurrencyLimit: count === null ? null : share(count),
    rateLimit: rate && { ...rate, limit: share(rate.limit), burst: share(rate.burst) },
  };
}

/** A limit that leaves a shard nothing would stop it for good, so it is refused. */
export function requireDivisible(limits: Limits, shards: number): void {
  const wholes: [string, number | undefined][] = [
    ['concurrencyLimit', limits.concurrencyLimit ?? undefined],
    ['rateLimit.limit', limits.rateLimit?.limit],
    ['rateLimit.burst', limits.rateLimit?.burst],
  ];
  for (const [name, whole] of wholes) {
    if (whole !== undefined && whole < shards) {
      throw new LimitError(
        `${name} must be at least ${shards}: it is divided over the ${shards} shards of this database`,
      );
    }
  }
}

function countOf(name: string, value: number | undefined): number | undefined {
  return value === undefined ? undefined : wholeIn(name, value, 0, CONCURRENCY_LIMIT_MAX);
}

function rateOf(name: string, input: RateLimitInput | undefined): RateLimit | 0 | undefined {
  if (input === undefined || input === 0) return input;
  if (typeof input !== 'object' || input === null) {
    throw new LimitError(`${name} must be { limit, perMs, burst }, or 0 for no limit`);
  }
  for (const field of Object.keys(input)) {
    if (!RATE_FIELDS.includes(field)) {
      throw new LimitError(unknownName(`field of ${name}`, field, RATE_FIELDS));
    }
  }
  const limit = wholeIn(`${name}.limit`, input.limit, 1, RATE_MAX);
  return {
    limit,
    perMs: wholeIn(`${name}.perMs`, input.perMs, 1, PER_MS_MAX),
    burst: wholeIn(`${name}.burst`, input.burst ?? limit, 1, RATE_MAX),
  };
}

const RATE_FIELDS = ['limit', 'perMs', 'burst'];

function wholeIn(name: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    const note = min === 0 ? ' (0: no limit)' : '';
    throw new LimitError(`${name} must be a whole number from ${min} to ${max}${note}`);
  }
  return value;
}

function withoutNulls(change: LimitsChange): LimitsInput {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
}
