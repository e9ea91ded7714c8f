import { expect, it } from 'vitest';
import { definitionAbout, isWebAddress } from './definition-about.ts';

const about = (input: object) => definitionAbout(input, (sentence) => new Error(sentence));

it('keeps what was said, and null for the rest', () => {
  const said = { description: 'Sends invoices.', runbookUrl: 'https://wiki.example.com/r?x=1#top' };
  expect(about(said)).toEqual({ owner: null, ...said });
  expect(about({})).toEqual({ owner: null, description: null, runbookUrl: null });
});

it.each(['http://wiki/runbook', 'https://wiki.example.com:8443/a'])('%s is followed', (url) => {
  expect(isWebAddress(url)).toBe(true);
});

it.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '/runbooks/orders',
  'wiki.example.com/orders',
  'https://ada:secret@wiki.example.com/',
  `https://wiki.example.com/${'x'.repeat(2_000)}`,
  '',
  7,
  null,
])('%j is no runbookUrl', (runbookUrl) => {
  expect(() => about({ runbookUrl })).toThrow(/^runbookUrl must be a URL such as https:/);
});

it.each(['', 7, null, 'x'.repeat(1_001)])('%j is no description', (description) => {
  expect(() => about({ description })).toThrow('description must be a string of 1 to 1000');
});
