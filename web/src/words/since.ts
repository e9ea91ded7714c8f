const HOUR_MS = 3_600_000;

export const SINCE_MS = { '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS } as const;

export type Since = keyof typeof SINCE_MS;

export const SINCE_WORDS: Record<Since, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
};
