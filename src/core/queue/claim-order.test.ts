import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type Line, orderLines } from './claim-order.ts';
import { Turns } from './fair-share.ts';

/** "a1 a2 b3^5" is tenant a with lanes 1 and 2, and tenant b with lane 3 at priority 5. */
function lines(text: string): Line[] {
  return text.split(' ').map((word, index) => {
    const [, tenant = '', lane = '', priority = '0'] = /^(\w)(\d+)(?:\^(-?\d+))?$/.exec(word) ?? [];
    return { tenant, lane: Number(lane), rank: 0 - Number(priority), sinceMs: 1_000 - index };
  });
}
const shown = (ordered: readonly Line[]) =>
  ordered.map(({ tenant, lane }) => `${tenant}${lane}`).join(' ');

/** "a1 a1 b4" is one claim that brought two jobs of a and one of b; claims are apart by commas. */
function after(claims: string, weights: Record<string, number> = {}): Turns {
  const turns = new Turns();
  for (const claim of claims.split(', ').filter(Boolean)) {
    turns.took(lines(claim).map((line) => ({ ...line, weight: weights[line.tenant] ?? 1 })));
  }
  return turns;
}

test.each([
  ['one line', 'a1', '', 'a1'],
  ['the higher priority first', 'a1 b2^5 c3^-1', '', 'b2 a1 c3'],
  ['priority over turns', 'a1 b2^5 c3^-1', 'b2, b2', 'b2 a1 c3'],
  ['tenants in turn', 'a1 a2 a3 b4', '', 'a1 b4 a2 a3'],
  ['the next tenant', 'a1 a2 a3 b4', 'a1', 'b4 a2 a3 a1'],
  ['the next lane after a round', 'a1 a2 a3 b4', 'a1, b4', 'a2 b4 a3 a1'],
  ['the next tenant again', 'a1 a2 a3 b4', 'a1, b4, a2', 'b4 a3 a1 a2'],
  ['many jobs at once are many turns', 'a1 b2', 'a1 a1 a1, b2, b2', 'b2 a1'],
  ['the input in another order', 'b4 a3 a1 a2', 'a1, b4', 'a2 b4 a3 a1'],
  ['one lane at two priorities', 'a1 a1^3 b2', '', 'a1 a1 b2'],
  ['turns inside each priority', 'a1^1 b2^1 a3 b4', 'a1', 'b2 a1 b4 a3'],
  ['nothing saved up by who had nothing to do', 'a1 b2', 'a1, a1, a1, a1, b2', 'a1 b2'],
])('%s', (_, text, claims, expected) => {
  expect(shown(orderLines(lines(text), after(claims)))).toBe(expected);
});

test('who weighs three gets three', () => {
  const weights = { a: 3, b: 1 };
  const heads = ['a1', 'b2', 'a1', 'a1', 'a1', 'b2', 'a1', 'a1'];
  for (let claims = 0; claims < heads.length; claims += 1) {
    const turns = after(heads.slice(0, claims).join(', '), weights);
    expect(shown(orderLines(lines('a1 b2'), turns).slice(0, 1))).toBe(heads[claims]);
  }
});

test('no lines are no work', () => expect(orderLines([], new Turns())).toEqual([]));

test('what has aged goes first, the longest wait before all, then the rest as ever', () => {
  // In this order they wait since 1000, 999, 998 and 997.
  const all = lines('a1^9 b2^-5 c3 d4^-9');
  expect(shown(orderLines(all, new Turns(), 996))).toBe('a1 c3 b2 d4');
  expect(shown(orderLines(all, new Turns(), 997))).toBe('d4 a1 c3 b2');
  expect(shown(orderLines(all, new Turns(), 998))).toBe('d4 c3 a1 b2');
});

test('the lines are handed back themselves, and the input is left alone', () => {
  const input = Object.freeze(lines('a2 a1 b3').map((line) => Object.freeze(line)));
  expect(orderLines(input, new Turns()).every((line) => input.includes(line))).toBe(true);
});

/** A lane belongs to one tenant, so the tenant is made from the lane. */
const anyLine = fc
  .record({ lane: fc.nat(30), rank: fc.integer({ min: -2, max: 2 }) })
  .map(({ lane, rank }): Line => ({ lane, rank, tenant: `t${lane % 4}`, sinceMs: 0 }));
const anyLines = fc.uniqueArray(anyLine, {
  minLength: 1,
  maxLength: 25,
  selector: ({ lane, rank }) => `${lane}:${rank}`,
});
const anyEquals = fc
  .uniqueArray(anyLine, { minLength: 1, maxLength: 25, selector: ({ lane }) => lane })
  .map((all) => all.map((line) => ({ ...line, rank: 0 })));
const anyWeights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 5, maxLength: 5 });
const weightOf = (weights: readonly number[], { tenant }: Line) =>
  weights[Number(tenant.slice(1))] ?? 1;

/** Lines that never end: each claim brings as many jobs as it asks for, all from the head. */
function claimFrom(all: readonly Line[], turns: Turns, weights: readonly number[], jobs: number) {
  const [head] = orderLines(all, turns);
  if (!head) throw new Error('there is no line');
  turns.took(Array.from({ length: jobs }, () => ({ ...head, weight: weightOf(weights, head) })));
  return head;
}

describe('for any lines, whatever was claimed before', () => {
  const anyPast = fc.array(fc.record({ line: anyLine, jobs: fc.integer({ min: 1, max: 99 }) }));
  const turnsAfter = (
    past: readonly { line: Line; jobs: number }[],
    weights: readonly number[],
  ) => {
    const turns = new Turns();
    for (const { line, jobs } of past) claimFrom([line], turns, weights, jobs);
    return turns;
  };

  it('each line is visited once, in exact order of priority', () => {
    fc.assert(
      fc.property(anyLines, anyPast, anyWeights, (all, past, weights) => {
        const ordered = orderLines(all, turnsAfter(past, weights));
        expect(new Set(ordered)).toEqual(new Set(all));
        expect(ordered).toHaveLength(all.length);
        const ranks = ordered.map(({ rank }) => rank);
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
      }),
    );
  });

  it('a tenant with many lanes puts no second line before the first of another', () => {
    fc.assert(
      fc.property(anyEquals, anyPast, anyWeights, (equals, past, weights) => {
        const tenants = new Set(equals.map(({ tenant }) => tenant));
        const first = orderLines(equals, turnsAfter(past, weights)).slice(0, tenants.size);
        expect(new Set(first.map(({ tenant }) => tenant))).toEqual(tenants);
      }),
    );
  });

  it('a tenant that comes anew heads one of the next T claims, however much the others have', () => {
    fc.assert(
      fc.property(anyEquals, anyPast, anyWeights, fc.nat(99), (equals, past, weights, jobs) => {
        const turns = turnsAfter(past, weights);
        const anew = { lane: 99, rank: 0, tenant: 'anew', sinceMs: 0 };
        const all = [...equals, anew];
        const bound = new Set(all.map(({ tenant }) => tenant)).size;
        const heads = Array.from({ length: bound }, () => claimFrom(all, turns, weights, jobs + 1));
        expect(heads).toContainEqual(anew);
      }),
    );
  });

  it('tenants that always have work share it by their weights, to one claim, and none of its lanes is left out', () => {
    fc.assert(
      fc.property(anyEquals, anyWeights, fc.integer({ min: 1, max: 9 }), (all, weights, jobs) => {
        const turns = new Turns();
        const got = new Map<string, number>();
        const lanes = new Set<number>();
        for (let claims = 0; claims < 40 * all.length; claims += 1) {
          const head = claimFrom(all, turns, weights, jobs);
          lanes.add(head.lane);
          got.set(head.tenant, (got.get(head.tenant) ?? 0) + jobs / weightOf(weights, head));
        }
        const shares = all.map(({ tenant }) => got.get(tenant) ?? 0);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(jobs + 1e-6);
        expect(lanes.size).toBe(all.length);
      }),
      { numRuns: 30 },
    );
  });
});
