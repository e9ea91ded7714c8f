import { describe, expect, it } from 'vitest';
import { NO_LIMITS } from '../queue/limits.ts';
import { type ScaleRows, scaleView } from './scale.ts';

const AT = new Date('2030-01-01T00:00:40.000Z');
const FROM = new Date('2030-01-01T00:00:00.000Z');

const view = (over: Partial<ScaleRows>, targetSeconds = 60) =>
  scaleView(
    {
      at: AT,
      arrivalsFrom: FROM,
      depths: [],
      recent: [],
      ever: [],
      oldest: [],
      slots: [],
      allSlots: 0,
      limits: new Map(),
      tenantLimits: new Map(),
      ...over,
    },
    { targetSeconds, allTenants: true },
  );

const depth = { key: 'a', tenant: 'default', paused: false, waiting: 0, running: 0 };
const recent = { key: 'a', tenant: 'default', paused: false, arrivals: 0, runs: 0, ranMs: 0 };

describe('the load of a definition', () => {
  it('comes from its counters, of all shards', () => {
    const { definitions, ...total } = view({
      depths: [
        { ...depth, waiting: 100, running: 1 },
        { ...depth, waiting: 20 },
      ],
      recent: [
        { ...recent, arrivals: 30, runs: 10, ranMs: 20_000 },
        { ...recent, arrivals: 10 },
      ],
      oldest: [
        { key: 'a', ageMs: 4_000.4 },
        { key: 'a', ageMs: 7 },
      ],
      slots: [{ key: 'a', slots: 8 }],
      allSlots: 10,
    });
    const numbers = {
      waiting: 120,
      running: 1,
      oldestAgeMs: 4_000,
      arrivalsPerSecond: 1,
      // 1 job/s × 2 s, and 120 × 2 s in 60 s.
      wantedSlots: 6,
    };
    expect(definitions).toEqual([{ key: 'a', ...numbers, runMs: 2_000, slots: 8 }]);
    expect(total).toEqual({
      at: AT.toISOString(),
      allTenants: true,
      targetSeconds: 60,
      windowSeconds: 40,
      ...numbers,
      slots: 10,
      limited: [],
    });
  });

  it('has the run time of all attempts ever, if none has ended lately', () => {
    const ever = [{ key: 'a', runs: 4, ranMs: 2_000 }];
    expect(view({ depths: [depth], ever }).definitions[0]?.runMs).toBe(500);
    expect(view({ depths: [depth] }).definitions[0]?.runMs).toBeNull();
  });

  it('wants no slot for jobs under a pause, and no more than its limit', () => {
    const paused = view({
      depths: [{ ...depth, paused: true, waiting: 600, running: 2 }],
      recent: [{ ...recent, paused: true, arrivals: 400, runs: 1, ranMs: 1_000 }],
    });
    expect(paused).toMatchObject({ waiting: 600, wantedSlots: 2 });
    const limited = view({
      depths: [{ ...depth, waiting: 600 }],
      limits: new Map([['a', { ...NO_LIMITS, concurrencyLimit: 3 }]]),
    });
    expect(limited.wantedSlots).toBe(3);
    expect(limited.limited).toEqual([
      { of: 'definition', name: 'a', concurrencyLimit: 3, waiting: 600 },
    ]);
  });

  it('is never below zero, although counters lag', () => {
    const [one] = view({ depths: [{ ...depth, waiting: -1, running: -2 }] }).definitions;
    expect(one).toMatchObject({ waiting: 0, running: 0, wantedSlots: 0, oldestAgeMs: null });
  });
});

it('leaves out hooks that have no load', () => {
  const { definitions } = view({
    depths: [
      { ...depth, key: '$hook:a' },
      { ...depth, key: '$hook:b', waiting: 1 },
    ],
  });
  expect(definitions.map(({ key }) => key)).toEqual(['$hook:b']);
});

it('adds up fractions of slots, which definitions share', () => {
  const keys = ['a', 'b', 'c', 'd'];
  const { definitions, wantedSlots } = view({
    depths: keys.map((key) => ({ ...depth, key })),
    recent: keys.map((key) => ({ ...recent, key, arrivals: 10, runs: 1, ranMs: 1_000 })),
  });
  expect(definitions.map((one) => one.wantedSlots)).toEqual([1, 1, 1, 1]);
  expect(wantedSlots).toBe(1);
});

describe('the limit of a tenant', () => {
  const rows = {
    depths: [
      { ...depth, waiting: 60, running: 2 },
      { ...depth, tenant: 'acme', waiting: 600, running: 1 },
      { ...depth, key: 'b', tenant: 'acme', waiting: 300 },
    ],
    recent: [{ ...recent, runs: 1, ranMs: 10_000 }],
    ever: [{ key: 'b', runs: 1, ranMs: 10_000 }],
  };

  it('caps what its jobs want, over all definitions', () => {
    expect(view(rows).wantedSlots).toBe(160);
    const capped = view({ ...rows, tenantLimits: new Map([['acme', 3]]) });
    // 10 of the default tenant, and 2 of 3 of acme; the other of acme is in b.
    expect(capped.definitions.map(({ wantedSlots }) => wantedSlots)).toEqual([12, 1]);
    expect(capped.wantedSlots).toBe(13);
    expect(capped.limited).toEqual([
      { of: 'tenant', name: 'acme', concurrencyLimit: 3, waiting: 900 },
    ]);
  });

  it('is not named while its jobs fit', () => {
    expect(view({ ...rows, tenantLimits: new Map([['acme', 500]]) }).limited).toEqual([]);
  });
});
