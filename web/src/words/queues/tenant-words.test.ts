import { expect, test } from 'vitest';
import { readTenantLimits, tenantUse, tenantWords } from './tenant-words.ts';

const acme = { tenant: 'acme', concurrencyLimit: 4, inUse: 2, weight: 1 };

test('a tenant in words', () => {
  expect(tenantWords(acme)).toBe('acme: at most 4 jobs at a time, weight 1');
  expect(tenantWords({ ...acme, concurrencyLimit: 1 })).toMatch(/at most 1 job at a time/);
  expect(tenantWords({ ...acme, concurrencyLimit: null })).toBe('acme: no limit, weight 1');
  expect(tenantUse(acme)).toBe('2');
  expect(tenantUse({ ...acme, concurrencyLimit: null, inUse: 0 })).toBe('-');
});

test.each([
  ['', '1', { change: { concurrencyLimit: null, weight: 1 } }],
  [' 4 ', '3', { change: { concurrencyLimit: 4, weight: 3 } }],
  ['0', '1', { wrong: expect.stringContaining('Jobs at a time') as string }],
  ['many', '1', { wrong: expect.stringContaining('Jobs at a time') as string }],
  ['', '0', { wrong: expect.stringContaining('weight') as string }],
  ['', '1001', { wrong: expect.stringContaining('weight') as string }],
])('limit %j, weight %j', (limit, weight, read) => {
  expect(readTenantLimits(limit, weight)).toEqual(read);
});
