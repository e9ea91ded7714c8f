/** A token bucket: a sustained rate with bursts. */
export interface BucketRule {
  perSecond: number;
  burst: number;
}

export interface Bucket {
  tokens: number;
  atMs: number;
}

export interface Taken {
  allowed: boolean;
  bucket: Bucket;
  /** How many more are allowed now. */
  remaining: number;
  /** The time until the next token. */
  retryAfterMs: number;
}

/** Takes a token if there is one. An unknown bucket is full. */
export function takeToken(
  bucket: Bucket | undefined,
  { perSecond, burst }: BucketRule,
  nowMs: number,
): Taken {
  const before = bucket ?? { tokens: burst, atMs: nowMs };
  const saved = (Math.max(0, nowMs - before.atMs) / 1_000) * perSecond;
  const tokens = Math.min(burst, before.tokens + saved);
  const allowed = tokens >= 1;
  const left = allowed ? tokens - 1 : tokens;
  return {
    allowed,
    bucket: { tokens: left, atMs: nowMs },
    remaining: Math.floor(left),
    retryAfterMs: left >= 1 ? 0 : Math.ceil(((1 - left) / perSecond) * 1_000),
  };
}
