import { unknownName } from '../values/nearest.ts';
import { YEAR_MS } from '../values/duration.ts';
import { SPREAD_MAX } from '../shards/spread.ts';

/**
 * Concurrency and rate limits. The code of a definition sets them, and an operator can override
 * them at run time until the override is removed. 0 means "no limit" everywhere, so an operator can
 * lift a limit of the code.
 */

/** `limit` per `perMs` milliseconds, with bursts of up to `burst`. */
export interface RateLimit {
  limit: number;
  perMs: number;
  burst: number;
}

/** Null means no limit. Key limits hold for each concurrency key separately. */
export interface Limits {
  concurrencyLimit: number | null;
  concurrencyKeyLimit: number | null;
  rateLimit: RateLimit | null;
  keyRateLimit: RateLimit | null;
  /** Not a limit, but set like one: the number of shards of its jobs (`core/shards/spread.ts`). Null: 1. */
  spread: number | null;
}

/** A rate as input; `burst` defaults to `limit`. */
export type RateLimitInput = 0 | { limit: number; perMs: number; burst?: number | undefined };

export interface LimitsInput {
  concurrencyLimit?: number | undefined;
  concurrencyKeyLimit?: number | undefined;
  rateLimit?: RateLimitInput | undefined;
  keyRateLimit?: RateLimitInput | undefined;
  /** The jobs of the definition use this many shards of a database with several. Default 1. */
  spread?: number | undefined;
}

/** A change: null removes the override, a missing field stays as it is. */
export type LimitsChange = { [Name in keyof LimitsInput]?: LimitsInput[Name] | null };

/** The stored override: 0 for "no limit". */
export type LimitsOverride = { [Name in keyof Limits]?: Limits[Name] | 0 };

export const NO_LIMITS: Limits = {
  concurrencyLimit: null,
  concurrencyKeyLimit: null,
  rateLimit: null,
  keyRateLimit: null,
  spread: null,
};

export const LIMIT_NAMES = Object.keys(NO_LIMITS) as (keyof Limits)[];
export const CONCURRENCY_LIMIT_MAX = 1_000_000;
export const RATE_MAX = 1_000_000_000;
export const PER_MS_MAX = YEAR_MS;
export const CONCURRENCY_KEY_MAX = 255;

export class LimitError extends Error {
  override name = 'LimitError';
}

/** Fills in defaults and rejects invalid fields with a message that names the field. */
export function limitsOf(input: LimitsInput): Limits {
  const { concurrencyLimit, concurrencyKeyLimit, rateLimit, keyRateLimit, spread } = input;
  return {
    concurrencyLimit: countOf('concurrencyLimit', concurrencyLimit) || null,
    concurrencyKeyLimit: countOf('concurrencyKeyLimit', concurrencyKeyLimit) || null,
    rateLimit: rateOf('rateLimit', rateLimit) || null,
    keyRateLimit: rateOf('keyRateLimit', keyRateLimit) || null,
    spread: spread === undefined ? null : wholeIn('spread', spread, 1, SPREAD_MAX),
  };
}

/** Whether anything limits the jobs. */
export function isLimited({ spread: _spread, ...limits }: Limits): boolean {
  return Object.values(limits).some(Boolean);
}

/** The override after one more change. */
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

/** The limits in effect: the override, else the code. */
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
    spread: pick('spread'),
  };
}

/**
 * The share of a limit that one shard enforces. Shards do not coordinate, so a limit of a
 * definition or tenant is divided, and the first shards get the remainder. All jobs of a concurrency
 * key are in one shard, so key limits stay whole.
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

/** A limit that leaves a shard 0 would stop it for good, so it is refused. */
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
