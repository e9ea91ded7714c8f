import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { isJobId, jobIdFloor, makeJobId, shardOfJobId, SHARDS_MAX, timeOfJobId } from './job-id.ts';

const TIME_MAX = 2 ** 48 - 1;
const RANDOM_MAX = 2 ** 26 - 1;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const times = [0, 1, 2 ** 32 - 1, 2 ** 32, 1_767_225_600_000, TIME_MAX];
const shards = [0, 1, 2, 255, 256, 511, 512, SHARDS_MAX - 1];
const randoms = [0, 1, 2 ** 24 - 1, 2 ** 24, RANDOM_MAX];
const edges = times.flatMap((timeMs) => shards.map((shard) => [timeMs, shard] as const));

const anyRandom = fc.tuple(fc.nat(RANDOM_MAX), fc.nat(RANDOM_MAX));
const anyParts = fc.record({
  timeMs: fc.integer({ min: 0, max: TIME_MAX }),
  sequence: fc.nat(4_095),
  random: anyRandom,
  shard: fc.nat(SHARDS_MAX - 1),
});

describe('an id', () => {
  it.each(edges)('of ms %i in shard %i says both, whatever else is in it', (timeMs, shard) => {
    for (const random of randoms) {
      for (const sequence of [0, 1, 4_095]) {
        const id = makeJobId({ timeMs, sequence, random: [random, random], shard });
        expect(id).toMatch(UUID_V7);
        expect([timeOfJobId(id), shardOfJobId(id)]).toEqual([timeMs, shard]);
      }
    }
  });

  it('says its time and shard for every choice of parts', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const id = makeJobId(parts);
        expect(isJobId(id)).toBe(true);
        expect(timeOfJobId(id)).toBe(parts.timeMs);
        expect(shardOfJobId(id)).toBe(parts.shard);
      }),
    );
  });

  it('sorts by time, then by sequence, whatever the rest', () => {
    fc.assert(
      fc.property(anyParts, anyParts, fc.boolean(), (one, other, sameMs) => {
        const second = sameMs ? { ...other, timeMs: one.timeMs } : other;
        const order = one.timeMs - second.timeMs || one.sequence - second.sequence;
        if (order === 0) return;
        expect(makeJobId(one) < makeJobId(second)).toBe(order < 0);
      }),
    );
  });

  it('is another one when any of its 50 random bits is', () => {
    const bits = (count: number) => Array.from({ length: count }, (_, bit) => 2 ** bit);
    // The first number gives 24 of its 26 bits: the version and the shard took the rest.
    const draws = [[0, 0], ...bits(24).map((one) => [one, 0]), ...bits(26).map((one) => [0, one])];
    const ids = draws.map(([first = 0, second = 0]) =>
      makeJobId({ timeMs: 1, sequence: 0, random: [first, second], shard: 0 }),
    );
    expect(new Set(ids).size).toBe(1 + 24 + 26);
  });
});

describe('the floor of a moment', () => {
  it('is not above any id of that ms and above every id of the one before', () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const id = makeJobId(parts);
        expect(jobIdFloor(parts.timeMs) <= id).toBe(true);
        if (parts.timeMs < TIME_MAX) expect(id < jobIdFloor(parts.timeMs + 1)).toBe(true);
      }),
    );
  });

  it.each([
    [0, '00000000-0000-7000-8000-000000000000'],
    [-1, '00000000-0000-7000-8000-000000000000'],
    [1.9, '00000000-0001-7000-8000-000000000000'],
    [1_767_225_600_000, '019b76da-a800-7000-8000-000000000000'],
  ])('of %d is an id: %s', (timeMs, floor) => {
    expect(jobIdFloor(timeMs)).toBe(floor);
    expect(isJobId(floor)).toBe(true);
  });
});

test.each([
  ['', 'empty'],
  ['019b76da-a800-4000-8000-000000000000', 'another version'],
  ['019b76da-a800-7000-c000-000000000000', 'another variant'],
  ['019B76DA-A800-7000-8000-000000000000', 'capitals'],
  ['019b76daa80070008000000000000000', 'no dashes'],
  ['019b76da-a800-7000-8000-0000000000000', 'too long'],
  ['019b76da-a800-7000-8000-000000000000\n', 'a line end'],
  [' 019b76da-a800-7000-8000-000000000000', 'a space'],
])('"%s" is not an id: %s', (text) => expect(isJobId(text)).toBe(false));
