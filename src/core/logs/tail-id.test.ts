import { expect, it } from 'vitest';
import { parseTailId, tailIdText } from './tail-id.ts';

const jobId = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

it('an id of a line can be read again', () => {
  const id = { storedAtMs: 1_900_000_000_000, jobId, position: [2, 0, 17] } as const;
  expect(parseTailId(tailIdText(id))).toEqual(id);
});

it.each(['', '1', `1.${jobId}`, `x.${jobId}.1-1-1`, `1.other.1-1-1`, `1.${jobId}.1-1-1.2`])(
  '%j is none',
  (text) => expect(parseTailId(text)).toBeNull(),
);
