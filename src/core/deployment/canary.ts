/** The attempts of one version that ended, and how many of them failed. */
export interface AttemptCounts {
  ended: number;
  failed: number;
}

/** Who ends a canary that fails too often, in the release and in the audit log. */
export const CANARY_JUDGE = 'canary judge';

/** Fewer say nothing about a canary. */
const ENDED_MIN = 10;
/** In standard deviations: about one false alarm in a thousand looks. */
const SIGNIFICANT = 3;
const RATE_MORE_MIN = 0.05;
/** Without attempts of the current version to compare with. */
const RATE_ALONE_MAX = 0.5;

/**
 * Why a canary must stop; null when it may go on. Attempts of a canary must not fail clearly more
 * often than those of the current version: by a difference that is not chance (a test of two
 * proportions), and of at least five percentage points.
 */
export function canaryVerdict(
  canary: AttemptCounts,
  current: AttemptCounts,
  other = 'the current version',
): string | null {
  if (canary.ended < ENDED_MIN) return null;
  const rate = canary.failed / canary.ended;
  const words = `${canary.failed} of ${canary.ended} attempts failed`;
  if (current.ended === 0) return rate > RATE_ALONE_MAX ? words : null;
  const usual = current.failed / current.ended;
  const pooled = (canary.failed + current.failed) / (canary.ended + current.ended);
  const deviation = Math.sqrt(pooled * (1 - pooled) * (1 / canary.ended + 1 / current.ended));
  const isWorse = rate - usual >= RATE_MORE_MIN && rate - usual > SIGNIFICANT * deviation;
  return isWorse ? `${words}, of ${other} ${current.failed} of ${current.ended}` : null;
}
