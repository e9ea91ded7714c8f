import { describe, expect, it } from 'vitest';
import { readIdempotencyHeader } from './idempotency-key.ts';

describe('the Idempotency-Key header', () => {
  it.each([
    ['order-17', 'order-17'],
    ['  order-17 ', 'order-17'],
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324'],
    ['"order 17, line 2"', 'order 17, line 2'],
    ['"say \\"hi\\" \\\\ bye"', 'say "hi" \\ bye'],
    ['k'.repeat(255), 'k'.repeat(255)],
    [`"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ])('%j is the key %j', (header, key) => {
    expect(readIdempotencyHeader(header)).toEqual({ ok: true, key });
  });

  it.each([
    '',
    '""',
    'two words',
    'one, two',
    '"one", "two"',
    '"open',
    '"a"b',
    '"bad \\escape"',
    '"a";param=1',
    'caf\u00e9',
    'tab\tin',
    'k'.repeat(256),
    `"${'k'.repeat(256)}"`,
  ])('%j is refused', (header) => {
    expect(readIdempotencyHeader(header).ok).toBe(false);
  });
});
