import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { formatApiKey, parseApiKey } from './api-key.ts';

const parts = { id: randomBytes(8).toString('hex'), secret: randomBytes(32).toString('hex') };
const key = formatApiKey(parts);

describe('a key', () => {
  test('can be read again', () => expect(parseApiKey(key)).toEqual(parts));

  test('ends in the CRC-32 of its id and secret', () => {
    const sum = crc32(`${parts.id}${parts.secret}`).toString(16).padStart(8, '0');
    expect(key).toBe(`lsk_${parts.id}_${parts.secret}${sum}`);
  });

  test('with any one letter wrong is none', () => {
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === '0' ? '1' : '0';
      expect(parseApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
    }
  });

  test.each([
    '',
    'lsk_',
    `${key} `,
    ` ${key}`,
    key.toUpperCase(),
    `${key}${key}`,
    key.slice(0, -1),
  ])('%j is none', (text) => expect(parseApiKey(text)).toBeNull());
});
