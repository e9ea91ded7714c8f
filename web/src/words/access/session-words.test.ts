import { expect, test } from 'vitest';
import { browserWords, sessionOwner } from './session-words.ts';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', null],
  [null, null],
])('%j is %j', (userAgent, words) => expect(browserWords(userAgent)).toBe(words));

const user = { issuer: 'https://id', subject: '7', name: null, email: null };
test.each([
  [{ user: null, keyName: 'ci', keyId: '1f' }, 'Key ci'],
  [{ user: { ...user, name: 'Ada', email: 'a@b' }, keyName: null, keyId: null }, 'Ada'],
  [{ user: { ...user, email: 'a@b' }, keyName: null, keyId: null }, 'a@b'],
  [{ user, keyName: null, keyId: null }, '7'],
])('%j belongs to %s', (session, owner) => expect(sessionOwner(session)).toBe(owner));
