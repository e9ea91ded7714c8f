import { expect, it } from 'vitest';
import { difference } from './difference.ts';

const row = (id: string, claim: number, state: 'running' | 'cancelling' = 'running') => ({
  id,
  claim,
  state,
  attempts: claim,
  maxAttempts: 9,
  interruptions: 0,
});

it('tells what is cancelled, what is lost, and what the worker owns besides', () => {
  const owned = [row('a', 1), row('b', 2, 'cancelling'), row('d', 1)];
  const holding = [
    { id: 'a', claim: 1 },
    { id: 'b', claim: 2 },
    { id: 'c', claim: 1 },
  ];
  expect(difference([{ owned, draining: false }], holding)).toEqual({
    cancel: ['b'],
    gone: ['c'],
    unheld: [{ id: 'd', claim: 1, attempt: 1 }],
    drain: false,
  });
});

it('keeps a job whose earlier claim is also held, with an outcome that is not settled', () => {
  const holding = [
    { id: 'a', claim: 1 },
    { id: 'a', claim: 2 },
  ];
  expect(difference([{ owned: [row('a', 2)], draining: false }], holding).gone).toEqual([]);
});
