import { expect, test } from 'vitest';
import { cronWords } from './cron-words.ts';

test.each([
  ['0 3 * * *', 'At 03:00'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['30 8 * * 1-5', 'At 08:30, Monday through Friday'],
  ['*/10 * * * * *', 'Every 10 seconds'],
  ['@daily', 'Every day, at 00:00'],
  ['not cron', 'not cron'],
])('%s is "%s"', (cron, words) => expect(cronWords(cron)).toBe(words));
