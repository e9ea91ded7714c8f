import { describe, expect, it } from 'vitest';
import { readSearchText, writeSearchText } from './search-text.ts';

const KEYS = ['mail', 'mail.bulk', 'crm.sync'];
const ID = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

describe('the search field', () => {
  it.each([
    ['', {}],
    ['mail', { definitionKey: 'mail' }],
    [
      'definition:mail tag:eu code:timeout',
      { definitionKey: 'mail', tag: 'eu', errorCode: 'TIMEOUT' },
    ],
    ['crm', { q: 'crm' }],
    ['definition:crm', { q: 'definition:crm' }],
    ['"mail"', { q: '"mail"' }],
    ['status:failed owner:billing two words', { status: ['failed'], q: 'owner:billing two words' }],
    ['tag:a tag:b', { tag: 'a', q: 'tag:b' }],
    ['mail crm.sync', { definitionKey: 'mail', q: 'crm.sync' }],
  ])('%j', (text, wanted) => expect(readSearchText(text, KEYS)).toEqual({ wanted }));

  it('opens a job by its id', () => {
    expect(readSearchText(` ${ID.toUpperCase()} `, KEYS)).toEqual({ jobId: ID });
  });

  it('says what is wrong', () => {
    expect(readSearchText('owmer:x', KEYS)).toEqual({
      problem: expect.stringContaining('did you mean "owner"?'),
    });
  });

  it.each([
    [{}, ''],
    [
      { definitionKey: 'mail', tag: 'a b', errorCode: 'X', q: 'owner:y z' },
      'definition:mail code:X tag:"a b" owner:y z',
    ],
    [{ status: ['failed' as const], q: 'x' }, 'x'],
  ])('shows %j', (wanted, text) => expect(writeSearchText(wanted)).toBe(text));
});
