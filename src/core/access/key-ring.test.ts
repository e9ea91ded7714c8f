import { expect, it } from 'vitest';
import { parseKeyRing } from './key-ring.ts';

const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const URL_SAFE = '__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA';

it('reads ids and keys, the one that encrypts first', () => {
  const keys = [
    { id: '2026', base64: KEY },
    { id: 'old_key-1', base64: URL_SAFE },
  ];
  expect(parseKeyRing(`2026:${KEY}, old_key-1:${URL_SAFE}`)).toEqual({ ok: true, keys });
});

it.each([
  ['', 'key 1 is not an id, a colon, and a key in base64'],
  [KEY, 'key 1 is not an id, a colon, and a key in base64'],
  [`a:${KEY},`, 'key 2 is not an id, a colon, and a key in base64'],
  [`a b:${KEY}`, 'key 1 is not an id, a colon, and a key in base64'],
  [`a:${KEY}:b`, 'key 1 is not an id, a colon, and a key in base64'],
  ['a:AAECAwQFBgcICQoLDA0ODw==', 'the key "a" is not 32 bytes in base64'],
  [`a:${KEY.slice(0, -2)}`, 'the key "a" is not 32 bytes in base64'],
  [`a:AAAA${KEY}`, 'the key "a" is not 32 bytes in base64'],
  [`a:${KEY},b:${URL_SAFE},a:${URL_SAFE}`, 'the id "a" occurs twice'],
])('refuses %j, and repeats no key', (text, problem) => {
  expect(parseKeyRing(text)).toEqual({ ok: false, problem });
});
