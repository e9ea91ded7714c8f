import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type Level, claimVisits, orderLevels, refillVisit } from './claim-order.ts';
import { FairShare } from './fair-share.ts';

/** "a1 a2 b3^5" is tenant a with queues 1 and 2, and tenant b with queue 3 at priority 5. */
function levels(text: string): Level[] {
  return text.split(' ').map((word, index) => {
    const [, tenant = '', queue = '', priority = '0'] =
      /^(\w)(\d+)(?:\^(-?\d+))?$/.exec(word) ?? [];
    return { tenant, queue: Number(queue), rank: 0 - Number(priority), sinceMs: 1_000 - index };
  });
}
const shown = (ordered: readonly Level[]) =>
  ordered.map(({ tenant, queue }) => `${tenant}${queue}`).join(' ');

/** "a1 a1 b4" is one claim that brought two jobs of a and one of b; claims are apart by commas. */
function after(claims: string, weights: Record<string, number> = {}): FairShare {
  const shares = new FairShare();
  for (const claim of claims.split(', ').filter(Boolean)) {
    shares.took(levels(claim).map((level) => ({ ...level, weight: weights[level.tenant] ?? 1 })));
  }
  return shares;
}

test.each([
  ['one level', 'a1', '', 'a1'],
  ['the higher priority first', 'a1 b2^5 c3^-1', '', 'b2 a1 c3'],
  ['priority over turns', 'a1 b2^5 c3^-1', 'b2, b2', 'b2 a1 c3'],
  ['tenants in turn', 'a1 a2 a3 b4', '', 'a1 b4 a2 a3'],
  ['the next tenant', 'a1 a2 a3 b4', 'a1', 'b4 a2 a3 a1'],
  ['the next queue after a round', 'a1 a2 a3 b4', 'a1, b4', 'a2 b4 a3 a1'],
  ['the next tenant again', 'a1 a2 a3 b4', 'a1, b4, a2', 'b4 a3 a1 a2'],
  ['many jobs at once are many turns', 'a1 b2', 'a1 a1 a1, b2, b2', 'b2 a1'],
  ['the input in another order', 'b4 a3 a1 a2', 'a1, b4', 'a2 b4 a3 a1'],
  ['one queue at two priorities', 'a1 a1^3 b2', '', 'a1 a1 b2'],
  ['shares inside each priority', 'a1^1 b2^1 a3 b4', 'a1', 'b2 a1 b4 a3'],
  ['nothing saved up by who had nothing to do', 'a1 b2', 'a1, a1, a1, a1, b2', 'a1 b2'],
])('%s', (_, text, claims, expected) => {
  expect(shown(orderLevels(levels(text), after(claims)))).toBe(expected);
});

test('who weighs three gets three', () => {
  const weights = { a: 3, b: 1 };
  const heads = ['a1', 'b2', 'a1', 'a1', 'a1', 'b2', 'a1', 'a1'];
  for (let claims = 0; claims < heads.length; claims += 1) {
    const shares = after(heads.slice(0, claims).join(', '), weights);
    expect(shown(orderLevels(levels('a1 b2'), shares).slice(0, 1))).toBe(heads[claims]);
  }
});

test('no levels are no work', () => expect(orderLevels([], new FairShare())).toEqual([]));

test('what has aged goes first, the longest wait before all, then the rest as ever', () => {
  // In this order they wait since 1000, 999, 998 and 997.
  const all = levels('a1^9 b2^-5 c3 d4^-9');
  expect(shown(orderLevels(all, new FairShare(), 996))).toBe('a1 c3 b2 d4');
  expect(shown(orderLevels(all, new FairShare(), 997))).toBe('d4 a1 c3 b2');
  expect(shown(orderLevels(all, new FairShare(), 998))).toBe('d4 c3 a1 b2');
});

test.each([
  ['alone', 'a1', '1', {}, 'a1', 1],
  ['beside a less urgent level', 'a1 b2^-1', '1', {}, 'a1', 1],
  ['beside a more urgent level', 'a1 b2^1', '1', {}, '', 1],
  ['above and beside a level', 'a1^2 a1 b2', '1', {}, 'a1', 1],
  ['beside another tenant', 'a1 b2', '1', {}, 'a1', 1 / 2],
  ['beside a heavier tenant', 'a1 b2', '1', { b: 3 }, 'a1', 1 / 4],
  ['beside a tenant with many queues', 'a1 b2 b3 b4', '1', {}, 'a1', 1 / 2],
  ['beside queues of its tenant', 'a1 a2 a3 a4 b5', '1', {}, 'a1', 1 / 8],
  ['of two queues', 'a1 a2 a3 a4', '12', {}, 'a2 a1', 1 / 2],
  ['without work', 'a1 b2', '9', {}, '', 1],
])('permits that came back are used again %s', (_, text, own, weights, expected, part) => {
  const weightOf = ({ tenant }: Level) => (weights as Record<string, number>)[tenant] ?? 1;
  const isOwn = ({ queue }: Level) => own.includes(String(queue));
  const visit = refillVisit(levels(text), isOwn, after('a1'), weightOf);
  expect(shown(visit.levels)).toBe(expected);
  if (expected !== '') expect(visit.part).toBeCloseTo(part);
});

test('a level that has aged comes before permits that came back', () => {
  // They wait since 1000 and 999.
  const all = levels('a1^9 b2');
  const refill = (agedMs: number) =>
    shown(
      refillVisit(
        all,
        ({ queue }) => queue === 1,
        new FairShare(),
        () => 1,
        agedMs,
      ).levels,
    );
  expect([refill(998), refill(999)]).toEqual(['a1', '']);
});

test('the levels are handed back themselves, and the input is left alone', () => {
  const input = Object.freeze(levels('a2 a1 b3').map((level) => Object.freeze(level)));
  expect(orderLevels(input, new FairShare()).every((level) => input.includes(level))).toBe(true);
});

/** A queue belongs to one tenant, so the tenant is made from the queue. */
const anyLevel = fc
  .record({ queue: fc.nat(30), rank: fc.integer({ min: -2, max: 2 }) })
  .map(({ queue, rank }): Level => ({ queue, rank, tenant: `t${queue % 4}`, sinceMs: 0 }));
const anyLevels = fc.uniqueArray(anyLevel, {
  minLength: 1,
  maxLength: 25,
  selector: ({ queue, rank }) => `${queue}:${rank}`,
});
const anyEquals = fc
  .uniqueArray(anyLevel, { minLength: 1, maxLength: 25, selector: ({ queue }) => queue })
  .map((all) => all.map((level) => ({ ...level, rank: 0 })));
const anyWeights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 5, maxLength: 5 });
const weightOf = (weights: readonly number[], { tenant }: Level) =>
  weights[Number(tenant.slice(1))] ?? 1;

/** Levels that never end: each claim brings as many jobs as it asks for, all from the head. */
function claimFrom(
  all: readonly Level[],
  shares: FairShare,
  weights: readonly number[],
  jobs: number,
) {
  const [head] = orderLevels(all, shares);
  if (!head) throw new Error('there is no level');
  shares.took(Array.from({ length: jobs }, () => ({ ...head, weight: weightOf(weights, head) })));
  return head;
}

describe('for any levels, whatever was claimed before', () => {
  const anyPast = fc.array(fc.record({ level: anyLevel, jobs: fc.integer({ min: 1, max: 99 }) }));
  const sharesAfter = (
    past: readonly { level: Level; jobs: number }[],
    weights: readonly number[],
  ) => {
    const shares = new FairShare();
    for (const { level, jobs } of past) claimFrom([level], shares, weights, jobs);
    return shares;
  };

  it('each level is visited once, in exact order of priority', () => {
    fc.assert(
      fc.property(anyLevels, anyPast, anyWeights, (all, past, weights) => {
        const ordered = orderLevels(all, sharesAfter(past, weights));
        expect(new Set(ordered)).toEqual(new Set(all));
        expect(ordered).toHaveLength(all.length);
        const ranks = ordered.map(({ rank }) => rank);
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
      }),
    );
  });

  it('a tenant with many queues puts no second level before the first of another', () => {
    fc.assert(
      fc.property(anyEquals, anyPast, anyWeights, (equals, past, weights) => {
        const tenants = new Set(equals.map(({ tenant }) => tenant));
        const first = orderLevels(equals, sharesAfter(past, weights)).slice(0, tenants.size);
        expect(new Set(first.map(({ tenant }) => tenant))).toEqual(tenants);
      }),
    );
  });

  it('a tenant that comes anew heads one of the next T claims, however much the others have', () => {
    fc.assert(
      fc.property(anyEquals, anyPast, anyWeights, fc.nat(99), (equals, past, weights, jobs) => {
        const shares = sharesAfter(past, weights);
        const anew = { queue: 99, rank: 0, tenant: 'anew', sinceMs: 0 };
        const all = [...equals, anew];
        const bound = new Set(all.map(({ tenant }) => tenant)).size;
        const heads = Array.from({ length: bound }, () =>
          claimFrom(all, shares, weights, jobs + 1),
        );
        expect(heads).toContainEqual(anew);
      }),
    );
  });

  it('tenants that always have work share it by their weights, to one claim, and none of its queues is left out', () => {
    fc.assert(
      fc.property(anyEquals, anyWeights, fc.integer({ min: 1, max: 9 }), (all, weights, jobs) => {
        const fairShare = new FairShare();
        const got = new Map<string, number>();
        const queues = new Set<number>();
        for (let claims = 0; claims < 40 * all.length; claims += 1) {
          const head = claimFrom(all, fairShare, weights, jobs);
          queues.add(head.queue);
          got.set(head.tenant, (got.get(head.tenant) ?? 0) + jobs / weightOf(weights, head));
        }
        const shares = all.map(({ tenant }) => got.get(tenant) ?? 0);
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(jobs + 1e-6);
        expect(queues.size).toBe(all.length);
      }),
      { numRuns: 30 },
    );
  });
});

/** "a1^5L" is a level with limits; the order is the one given. */
test.each([
  ['nothing', '', ''],
  ['plain ones only', 'a1 b2', 'a1 b2'],
  ['those of the first kind', 'a1 b2L a3', 'a1 a3'],
  ['those with limits, when they come first', 'a1L b2 a3L', 'a1L a3L', 'b2'],
  ['then no plain one behind a more urgent one with limits', 'a1^5L b2^5 a3', 'a1^5L', 'b2^5'],
  ['none behind a more urgent one of the other kind', 'a1^5 b2^5L a3', 'a1^5'],
  ['an aged one first, then more urgent ones', 'a1 b2^5L a3^5', 'a1 a3^5'],
])('a claim visits %s', (_, given, visited, thenVisited = '') => {
  const words = given.split(' ').filter(Boolean);
  const ordered = words.map((word) => ({
    ...(levels(word.replace('L', ''))[0] as Level),
    limited: word.endsWith('L'),
    word,
  }));
  const kinds = claimVisits(ordered).map((kind) => kind.map(({ word }) => word).join(' '));
  expect(kinds).toEqual([visited, thenVisited].filter(Boolean));
});
