import { expect, it } from 'vitest';
import { type LaneGroup, mergeGroups } from './dead-letter.ts';

const part = (changes: Partial<LaneGroup>): LaneGroup => ({
  fingerprint: 'f',
  code: 'TIMEOUT',
  message: 'slow',
  count: 1,
  countIsExact: true,
  firstSeen: '2026-01-01',
  lastSeen: '2026-01-02',
  definitionKey: 'a',
  version: 1,
  jobId: 'j',
  ...changes,
});

it('makes one group of what several lanes have of a mistake', () => {
  const parts = [
    part({ count: 3, version: 2, definitionKey: 'b', message: 'newest', lastSeen: '2026-01-09' }),
    part({ count: 4, firstSeen: '2025-12-01', countIsExact: false, jobId: 'other' }),
  ];
  expect(mergeGroups(parts)).toEqual([
    {
      fingerprint: 'f',
      code: 'TIMEOUT',
      message: 'newest',
      count: 7,
      countIsExact: false,
      firstSeen: '2025-12-01',
      lastSeen: '2026-01-09',
      definitionKeys: ['a', 'b'],
      versions: [1, 2],
      jobId: 'j',
    },
  ]);
});

it('puts the most frequent first, and of equals the newest', () => {
  const parts = [
    part({ fingerprint: 'rare' }),
    part({ fingerprint: 'often', count: 9 }),
    part({ fingerprint: 'new', lastSeen: '2026-02-01' }),
  ];
  expect(mergeGroups(parts).map(({ fingerprint }) => fingerprint)).toEqual([
    'often',
    'new',
    'rare',
  ]);
});
