import { expect, it } from 'vitest';
import type { JobError } from '../job/job.ts';
import { type QueueGroup, mergeGroups, partsOf, rootCause } from './dead-letter.ts';

const part = (changes: Partial<QueueGroup>): QueueGroup => ({
  fingerprint: 'f',
  code: 'TIMEOUT',
  message: 'slow',
  cause: null,
  count: 1,
  countIsExact: true,
  firstSeen: '2026-01-01',
  lastSeen: '2026-01-02',
  definitionKey: 'a',
  version: 1,
  jobId: 'j',
  trend: [],
  ...changes,
});

it('finds the innermost cause', () => {
  const error = (message: string, cause: JobError | null): JobError => ({
    code: 'X',
    message,
    stack: null,
    cause,
  });
  expect(rootCause(error('outer', null))).toBeNull();
  expect(rootCause(error('outer', error('middle', error('inner', null))))).toBe('inner');
});

it('makes one group of what several queues have of a mistake', () => {
  const parts = [
    part({
      count: 3,
      version: 2,
      definitionKey: 'b',
      message: 'newest',
      lastSeen: '2026-01-09',
      trend: [0, 3],
    }),
    part({
      count: 4,
      firstSeen: '2025-12-01',
      countIsExact: false,
      jobId: 'other',
      trend: [3, 1],
    }),
    part({ count: 2, version: 2, trend: [0, 2] }),
  ];
  expect(mergeGroups(parts)).toEqual([
    {
      fingerprint: 'f',
      code: 'TIMEOUT',
      message: 'newest',
      cause: null,
      count: 9,
      countIsExact: false,
      firstSeen: '2025-12-01',
      lastSeen: '2026-01-09',
      definitionKeys: ['a', 'b'],
      versions: [1, 2],
      jobId: 'j',
      trend: [3, 6],
      definitions: [
        { definitionKey: 'a', count: 6, trend: [3, 3] },
        { definitionKey: 'b', count: 3, trend: [0, 3] },
      ],
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

it('divides a window into equal parts', () => {
  const parts = partsOf(new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T03:00:00Z'), 3);
  expect(parts.map((part) => part.toISOString().slice(11, 16))).toEqual([
    '00:00',
    '01:00',
    '02:00',
  ]);
});
