import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type Line, orderLines } from './order-lines.ts';

/** "a1 a2 b3^5" is tenant a with lanes 1 and 2, and tenant b with lane 3 at priority 5. */
function lines(text: string): Line[] {
  return text.split(' ').map((word) => {
    const [, tenant = '', lane = '', priority = '0'] = /^(\w)(\d+)(?:\^(-?\d+))?$/.exec(word) ?? [];
    return { tenant, lane: Number(lane), rank: 0 - Number(priority) };
  });
}
const shown = (ordered: readonly Line[]) =>
  ordered.map(({ tenant, lane }) => `${tenant}${lane}`).join(' ');

test.each([
  ['one line', 'a1', 7, 'a1'],
  ['the higher priority first', 'a1 b2^5 c3^-1', 0, 'b2 a1 c3'],
  ['priority over turns', 'a1 b2^5 c3^-1', 2, 'b2 a1 c3'],
  ['tenants in turn', 'a1 a2 a3 b4', 0, 'a1 b4 a2 a3'],
  ['the next tenant', 'a1 a2 a3 b4', 1, 'b4 a1 a2 a3'],
  ['the next lane after a round', 'a1 a2 a3 b4', 2, 'a2 b4 a3 a1'],
  ['the next tenant again', 'a1 a2 a3 b4', 3, 'b4 a2 a3 a1'],
  ['the input in another order', 'b4 a3 a1 a2', 2, 'a2 b4 a3 a1'],
  ['one lane at two priorities', 'a1 a1^3 b2', 0, 'a1 a1 b2'],
  ['turns inside each priority', 'a1^1 b2^1 a3 b4', 1, 'b2 a1 b4 a3'],
])('%s', (_, text, rotation, expected) => {
  expect(shown(orderLines(lines(text), rotation))).toBe(expected);
});

test('no lines are no work', () => expect(orderLines([], 3)).toEqual([]));

test('the lines are handed back themselves, and the input is left alone', () => {
  const input = Object.freeze(lines('a2 a1 b3').map((line) => Object.freeze(line)));
  expect(new Set(orderLines(input, 1))).toEqual(new Set(input));
  expect(orderLines(input, 1).every((line) => input.includes(line))).toBe(true);
});

/** A lane belongs to one tenant, so the tenant is made from the lane. */
const anyLine = fc
  .record({ lane: fc.nat(30), rank: fc.integer({ min: -2, max: 2 }) })
  .map(({ lane, rank }): Line => ({ lane, rank, tenant: `t${lane % 4}` }));
const anyLines = fc.uniqueArray(anyLine, {
  minLength: 1,
  maxLength: 25,
  selector: ({ lane, rank }) => `${lane}:${rank}`,
});
const anyEquals = fc
  .uniqueArray(anyLine, { minLength: 1, maxLength: 25, selector: ({ lane }) => lane })
  .map((all) => all.map((line) => ({ ...line, rank: 0 })));

describe('for any lines and any rotation', () => {
  it('each line is visited once, in exact order of priority', () => {
    fc.assert(
      fc.property(anyLines, fc.nat(1e6), (all, rotation) => {
        const ordered = orderLines(all, rotation);
        expect(new Set(ordered)).toEqual(new Set(all));
        expect(ordered).toHaveLength(all.length);
        const ranks = ordered.map(({ rank }) => rank);
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
      }),
    );
  });

  it('a tenant heads one of #tenants claims, a lane one of #tenants × #lanes', () => {
    fc.assert(
      fc.property(anyEquals, fc.nat(1e6), (equals, from) => {
        const tenants = new Set(equals.map(({ tenant }) => tenant));
        const lanes = new Set(equals.map(({ lane }) => lane));
        const heads = (claims: number) =>
          Array.from({ length: claims }, (_, index) => orderLines(equals, from + index)[0]);
        expect(new Set(heads(tenants.size).map((head) => head?.tenant))).toEqual(tenants);
        const visited = heads(tenants.size * lanes.size).map((head) => head?.lane);
        expect(new Set(visited)).toEqual(lanes);
      }),
    );
  });

  it('a tenant with many lanes puts no second line before the first of another', () => {
    fc.assert(
      fc.property(anyEquals, fc.nat(1e6), (equals, rotation) => {
        const tenants = new Set(equals.map(({ tenant }) => tenant));
        const first = orderLines(equals, rotation).slice(0, tenants.size);
        expect(new Set(first.map(({ tenant }) => tenant))).toEqual(tenants);
      }),
    );
  });
});
