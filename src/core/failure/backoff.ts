import type { RetryPolicy } from '../job/job.ts';

export const DEFAULT_RETRY: RetryPolicy = { baseMs: 1_000, maxMs: 60_000, jitter: 0.1 };

/** The upper bound of a `Retry-After`: one day. */
export const RETRY_AFTER_MAX_MS = 24 * 60 * 60 * 1_000;

/** Named policies for common kinds of work, each with a number of attempts. */
export const RETRY_PRESETS: Record<string, { retry: RetryPolicy; maxAttempts: number }> = {
  webhook: { retry: { baseMs: 1_000, maxMs: 16_000, jitter: 0.1 }, maxAttempts: 5 },
  report: { retry: { baseMs: 30_000, maxMs: 120_000, jitter: 0.1 }, maxAttempts: 3 },
  cleanup: { retry: { delaysMs: [300_000, 900_000], jitter: 0.1 }, maxAttempts: 2 },
};

/**
 * The delay after attempt number `attempt` (1 is the first) has failed. It doubles up to a cap;
 * jitter spreads it by at most ± its share, never beyond the cap. A `Retry-After` of the failure
 * overrides the policy.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  retryAfterMs: number | null,
  random: number,
): number {
  if (retryAfterMs !== null) return Math.min(RETRY_AFTER_MAX_MS, Math.max(0, retryAfterMs));
  const [delayMs, capMs] = plainDelayMs(policy, attempt);
  const spread = 1 + policy.jitter * (2 * random - 1);
  return Math.max(0, Math.min(capMs, Math.round(delayMs * spread)));
}

function plainDelayMs(policy: RetryPolicy, attempt: number): [delayMs: number, capMs: number] {
  if ('delaysMs' in policy) {
    // A list shorter than the attempts repeats its last entry.
    const index = Math.min(attempt, policy.delaysMs.length) - 1;
    return [policy.delaysMs[index] ?? 0, Number.MAX_SAFE_INTEGER];
  }
  // 2^40 exceeds any cap; the bound keeps the product finite.
  const doublings = Math.min(40, Math.max(0, attempt - 1));
  return [Math.min(policy.maxMs, policy.baseMs * 2 ** doublings), policy.maxMs];
}
