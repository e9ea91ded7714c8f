import type { Since } from '../../../src/core/search/view-filter.ts';

export { SINCE_MS, type Since } from '../../../src/core/search/view-filter.ts';

export const SINCE_WORDS: Record<Since, string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
};
