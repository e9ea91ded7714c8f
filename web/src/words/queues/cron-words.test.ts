import { expect, test } from 'vitest';
import { cronSentence, cronWords } from './cron-words.ts';

test.each([
  ['0 3 * * *', 'At 03:00'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['30 8 * * 1-5', 'At 08:30, Monday through Friday'],
  ['*/10 * * * * *', 'Every 10 seconds'],
  ['@daily', 'Every day, at 00:00'],
  ['not cron', 'not cron'],
])('%s is "%s"', (cron, words) => expect(cronWords(cron)).toBe(words));

test.each([
  ['30 2 * * *', 'Every day at 02:30 UTC.'],
  ['30 8 * * 1-5', 'At 08:30, Monday through Friday (UTC).'],
  ['@daily', 'Every day, at 00:00 (UTC).'],
])('%s in UTC is "%s"', (cron, words) => expect(cronSentence(cron, 'UTC')).toBe(words));
