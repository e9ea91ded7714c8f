import { expect, it } from 'vitest';
import { Claims, NOTHING_SAVED } from './claims.ts';

const claim = { id: 'a', claim: 1, instance: 'w', saved: NOTHING_SAVED, secrets: null };

it('starts a claim once, also when it is delivered again after it was settled', () => {
  const claims = new Claims();
  expect(claims.add(claim)).toBe(true);
  expect(claims.add(claim)).toBe(false);
  claims.delete(claim);
  expect(claims.add(claim)).toBe(false);
  expect(claims.add({ ...claim, claim: 2 })).toBe(true);
});

it('does not start a claim that was returned', () => {
  const claims = new Claims();
  claims.returned(claim);
  expect(claims.add(claim)).toBe(false);
  expect(claims.of('w')).toEqual([]);
});

it('has what the latest claim of a job brought, while an earlier outcome is on its way', () => {
  const claims = new Claims();
  const saved = { checkpointJson: '1', steps: [] };
  claims.add(claim);
  claims.add({ ...claim, claim: 2, saved });
  expect(claims.saved('a')).toBe(saved);
  expect(claims.saved('b')).toBe(NOTHING_SAVED);
});

it('knows the identity of a claim that has ended until its outcome is settled', () => {
  const claims = new Claims();
  claims.add(claim);
  claims.ended(claim);
  expect([claims.size, claims.of('w')]).toEqual([0, []]);
  expect(claims.instanceOf(claim)).toBe('w');
  claims.delete(claim);
  expect(claims.instanceOf(claim)).toBeNull();
});
