import { expect, test } from 'vitest';
import { changeWords } from './audit-words.ts';

test.each([
  [{ concurrencyLimit: 1 }, { concurrencyLimit: 4 }, 'limit: 1 → 4'],
  [{}, { concurrencyLimit: 4 }, 'limit: none → 4'],
  [{ weight: 1 }, { weight: 3 }, 'weight: 1 → 3'],
  [{ cron: '@daily' }, { cron: '@hourly' }, '{"cron":"@daily"} → {"cron":"@hourly"}'],
  [
    { concurrencyLimit: 1 },
    { rateLimit: { limit: 1 } },
    '{"concurrencyLimit":1} → {"rateLimit":{"limit":1}}',
  ],
  [null, { reason: 'x' }, '{"reason":"x"}'],
  [{}, { channel: 'email', to: ['a@b.example'] }, '{"channel":"email","to":["a@b.example"]}'],
  [null, null, ''],
])('%j, %j', (before, after, words) => expect(changeWords(before, after)).toBe(words));
