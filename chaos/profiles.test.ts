import { expect, test } from 'vitest';
import { CALL_FAULTS } from './check/call-faults.ts';
import { SOMETIMES } from './check/invariants/liveness/sometimes.ts';
import { faultOf } from './faults/catalogue.ts';
import { profileOf } from './profiles.ts';

const NAMES = ['smoke', 'standard', 'remote', 'redis', 'torture'];

test.each(NAMES)('%s names faults that exist, and demands what can be counted', (name) => {
  const { deck, startUp, sometimes } = profileOf(name);
  for (const kind of Object.keys({ ...deck, ...startUp })) expect(faultOf(kind).kind).toBe(kind);
  for (const seen of sometimes) expect(Object.keys(SOMETIMES)).toContain(seen);
});

test.each(['standard', 'remote'])('%s deals out each fault of a call, and demands it', (name) => {
  const { deck, sometimes } = profileOf(name);
  for (const { kind, seen } of CALL_FAULTS) {
    expect(deck[kind], kind).toBeGreaterThan(0);
    expect(sometimes).toContain(seen);
  }
  expect(sometimes).toContain('an API was killed with calls of remote workers open');
});

test('the smoke profile has a remote worker whose calls are mistreated', () => {
  const { remotes, deck, sometimes } = profileOf('smoke');
  expect(remotes).toBe(1);
  const kinds = Object.keys(deck);
  for (const call of ['turn', 'beat', 'say']) {
    expect(kinds.filter((kind) => kind.startsWith(`${call}-`))).not.toEqual([]);
  }
  expect(sometimes).toContain('the answer to a turn was lost');
  expect(sometimes).toContain('a remote worker ran jobs');
});
