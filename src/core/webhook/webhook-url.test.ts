import { expect, test } from 'vitest';
import { judgeUrl } from './webhook-url.ts';

test.each([
  'https://example.com/hooks?token=1',
  'http://example.com',
  'https://example.com:8443/',
  'http://[2606:4700::1111]/',
])('%s can be the URL of a webhook', (url) => expect(judgeUrl(url).ok).toBe(true));

test.each([
  ['example.com/hooks', /must be a URL/],
  ['', /must be a URL/],
  ['http://[fe80::1%25eth0]/', /must be a URL/],
  ['ftp://example.com/', /must begin with https/],
  ['file:///etc/passwd', /must begin with https/],
  ['gopher://example.com/', /must begin with https/],
  ['https://user:secret@example.com/', /user name or a password/],
  ['https://user@example.com/', /user name or a password/],
  ['https://example.com/#here', /fragment/],
  ['http://example.com:22/', /port 22/],
  ['http://example.com:25/', /port 25/],
  ['http://example.com:5432/', /port 5432/],
  ['http://example.com:6379/', /port 6379/],
])('%s cannot', (url, words) => {
  const verdict = judgeUrl(url);
  expect(verdict).toMatchObject({ ok: false, detail: expect.stringMatching(words) as string });
  // What is refused may be a secret, and refusals are logged.
  expect(JSON.stringify(verdict)).not.toContain('secret@');
});
