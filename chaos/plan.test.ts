import { expect, it } from 'vitest';
import { planFaults, planRun, scaled } from './plan.ts';
import { Random } from './random.ts';

const deck = { 'worker-kill': 3, 'postmaster-kill': 2, 'outcome-stall': 1 };

it('holds every fault of its deck, within its time and in order', () => {
  const plan = planFaults(deck, 60_000, new Random('1'));
  const kinds = plan.map(({ kind }) => kind).sort();
  expect(kinds).toEqual(
    Object.entries(deck)
      .flatMap(([kind, count]) => Array.from({ length: count }, () => kind))
      .sort(),
  );
  const times = plan.map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)).toBeLessThan(60_000);
});

it('begins with the start of the servers, and the rest follows', () => {
  const decks = { startUp: { 'api-kill': 2, 'postmaster-kill': 1 }, startUpMs: 5_000, deck };
  const plan = planRun(decks, 60_000, new Random('1'));
  expect(plan[0]?.atMs).toBe(0);
  const early = plan.filter(({ atMs }) => atMs < 5_000).map(({ kind }) => kind);
  expect(early.sort()).toEqual(['api-kill', 'api-kill', 'postmaster-kill']);
  expect(plan).toHaveLength(9);
  expect(plan.at(-1)?.atMs).toBeLessThan(60_000);
  const times = plan.map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

it('is the same for the same seed, and another one for another', () => {
  const plan = (seed: string) => planFaults(deck, 60_000, new Random(seed));
  expect(plan('7')).toEqual(plan('7'));
  expect(plan('7')).not.toEqual(plan('8'));
});

it('keeps every kind when it is made shorter', () => {
  const short = { 'worker-kill': 1, 'postmaster-kill': 1, 'outcome-stall': 1 };
  expect(scaled(deck, 0.1)).toEqual(short);
  expect(scaled(deck, 2)['worker-kill']).toBe(6);
});

it('refuses a kind that does not exist, and says which may be meant', () => {
  expect(() => planFaults({ 'worker-kil': 1 }, 1, new Random('1'))).toThrow('worker-kill');
});

it('draws evenly enough', () => {
  const random = new Random('even');
  const counts = Array.from({ length: 10 }, () => 0);
  for (let draw = 0; draw < 10_000; draw += 1) counts[random.int(0, 9)]! += 1;
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
