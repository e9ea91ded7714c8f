import { describe, expect, it, test } from 'vitest';
import type { BulkView } from '../../../../src/core/job/bulk.ts';
import { actionsFor, bulkFilter, bulkFraction, bulkSentence, filterWords } from './bulk-words.ts';

const bulk = (over: Partial<BulkView>): BulkView => ({
  bulkId: 'b',
  action: 'retry',
  status: 'running',
  filter: {},
  mode: 'now',
  ratePerSecond: null,
  matched: 2_000,
  matchedIsExact: true,
  done: 500,
  skipped: 0,
  failed: 0,
  note: null,
  createdAt: '2030-01-01T12:00:00Z',
  finishedAt: null,
  ...over,
});

test.each([
  [[], ['retry', 'cancel', 'delete']],
  [['failed'], ['retry', 'delete']],
  [['running', 'cancelling'], ['cancel']],
  [['cancelling'], []],
] as const)('to jobs that are %j can be done: %j', (states, actions) =>
  expect(actionsFor(states)).toEqual(actions),
);

describe('the filter of a bulk action', () => {
  it('names only states that the action can change', () => {
    const filter = { status: ['running', 'cancelling'] as const, tag: 'eu', q: undefined };
    expect(bulkFilter('cancel', filter)).toEqual({ status: ['running'], tag: 'eu' });
  });

  it('is never empty', () => {
    expect(bulkFilter('delete', {})).toBeNull();
    expect(bulkFilter('delete', { status: ['running'] })).toBeNull();
    expect(bulkFilter('delete', { tag: 'eu' })).toEqual({ tag: 'eu' });
  });

  it('can be read', () => {
    const filter = { status: ['failed', 'cancelled'], definitionKey: 'mail', q: null };
    expect(filterWords(filter)).toBe('status failed or cancelled, of mail');
  });
});

describe('progress', () => {
  it('says what was done and what was not', () => {
    expect(bulkSentence(bulk({}))).toBe('500 of 2,000 retried.');
    const odd = bulk({ status: 'aborted', skipped: 3, failed: 1, matchedIsExact: false });
    expect(bulkSentence(odd)).toBe(
      '500 of 2,000+ retried, 3 skipped, 1 failed. Stopped by a user.',
    );
  });

  it('is a fraction only where the whole is known', () => {
    expect(bulkFraction(bulk({ skipped: 500 }))).toBe(0.5);
    expect(bulkFraction(bulk({ matchedIsExact: false }))).toBeNull();
    expect(bulkFraction(bulk({ status: 'finished', done: 0 }))).toBe(1);
  });
});
