import { expect, test } from 'vitest';
import { judgeLink, reportLink } from './report-link.ts';

const PARTS = { name: `acme.2030-01-08.${'9f'.repeat(32)}`, file: 'sales.csv' };
const NOW = new Date('2030-01-01T00:00:00Z');
const EXPIRES = new Date('2030-01-08T00:00:00Z');
const link = reportLink('https://jobs.example.com/', PARTS, EXPIRES, 'secret');
const signature = new URL(link).searchParams.get('signature') ?? '';

test('a link has nothing that chats or HTML would escape', () => {
  expect(link).toMatch(/^https:\/\/jobs\.example\.com\/v1\/reports\/[\w./-]+\?signature=[\w.]+$/);
});

test.each([
  ['the same', PARTS, signature, 'secret', NOW, 'valid'],
  ['the last second', PARTS, signature, 'secret', new Date(EXPIRES.getTime() - 1), 'valid'],
  ['too late', PARTS, signature, 'secret', EXPIRES, 'expired'],
  [
    'another report',
    { ...PARTS, name: PARTS.name.replace('acme', 'rival') },
    signature,
    'secret',
    NOW,
    'forged',
  ],
  ['another file', { ...PARTS, file: 'sales.html' }, signature, 'secret', NOW, 'forged'],
  ['another time', PARTS, signature.replace(/^\d+/, '9999999999'), 'secret', NOW, 'forged'],
  ['another secret', PARTS, signature, 'other', NOW, 'forged'],
  ['no signature', PARTS, '', 'secret', NOW, 'forged'],
  ['half a signature', PARTS, signature.slice(0, 20), 'secret', NOW, 'forged'],
] as const)('%s: %s', (_, parts, given, secret, now, expected) => {
  expect(judgeLink(parts, given, secret, now)).toBe(expected);
});
