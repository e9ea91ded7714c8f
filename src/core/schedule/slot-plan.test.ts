import { describe, expect, test } from 'vitest';
import { SCHEDULE_DEFAULTS } from './schedule.ts';
import { type DueSlots, planSlots, type Slot } from './slot-plan.ts';

const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 0, 1, 12);

/** A slot so many minutes ago. */
const ago = (minutes: number, more: Partial<Slot> = {}): Slot => {
  const atMs = NOW - minutes * MINUTE_MS;
  return { atMs, localMs: atMs, gap: false, ...more };
};

type Policy = Partial<Parameters<typeof planSlots>[0]>;

function plan(policy: Policy, slots: Slot[], more: Partial<DueSlots> = {}) {
  const due = { slots, earlier: null, held: null, active: false, nowMs: NOW, ...more };
  const { decisions, held } = planSlots({ ...SCHEDULE_DEFAULTS, ...policy }, due);
  const minutes = (atMs: number) => (NOW - atMs) / MINUTE_MS;
  const decided = decisions
    .sort((a, b) => a.slot.atMs - b.slot.atMs || a.slot.localMs - b.slot.localMs)
    .map(({ slot, status, reason, throughMs }) => {
      const range = throughMs === null ? '' : `..${minutes(throughMs)}`;
      return `${minutes(slot.atMs)}${range} ${status}${reason ? ` ${reason}` : ''}`;
    });
  return { decided, held: held && minutes(held.atMs) };
}

const decided = (...args: Parameters<typeof plan>) => plan(...args).decided;

test('a slot that is on time fires, whatever the policies', () => {
  for (const catchUp of ['none', 'latest', 'all'] as const) {
    for (const overlap of ['allow', 'skip', 'queue-one'] as const) {
      expect(plan({ catchUp, overlap }, [ago(0.5)])).toEqual({
        decided: ['0.5 fired'],
        held: null,
      });
    }
  }
});

test('nothing due, nothing done', () => {
  expect(plan({}, [])).toEqual({ decided: [], held: null });
});

describe('missed slots', () => {
  const missed = [ago(180), ago(120), ago(60)];

  test('none: they are skipped, and the one on time still fires', () => {
    expect(decided({ catchUp: 'none' }, missed)).toEqual([
      '180 skipped missed',
      '120 skipped missed',
      '60 skipped missed',
    ]);
    expect(decided({ catchUp: 'none' }, [...missed, ago(0)]).at(-1)).toBe('0 fired');
  });

  test('latest: one fires for all', () => {
    expect(decided({}, missed)).toEqual([
      '180 collapsed newer_slot',
      '120 collapsed newer_slot',
      '60 fired caught_up',
    ]);
    expect(decided({}, [...missed, ago(0)])).toEqual([
      '180 collapsed newer_slot',
      '120 collapsed newer_slot',
      '60 collapsed newer_slot',
      '0 fired',
    ]);
  });

  test('latest: what is older than the window is given up', () => {
    expect(decided({ catchUpWindowMs: 30 * MINUTE_MS }, missed)).toEqual([
      '180 skipped catch_up_window',
      '120 skipped catch_up_window',
      '60 skipped catch_up_window',
    ]);
  });

  test('all: within the window, and not more than the limit', () => {
    const policy = { catchUp: 'all', catchUpWindowMs: 150 * MINUTE_MS } as const;
    expect(decided(policy, [...missed, ago(0)])).toEqual([
      '180 skipped catch_up_window',
      '120 fired caught_up',
      '60 fired caught_up',
      '0 fired',
    ]);
    expect(decided({ ...policy, catchUpMax: 1 }, missed)).toEqual([
      '180 skipped catch_up_window',
      '120 skipped catch_up_max',
      '60 fired caught_up',
    ]);
  });

  test('very many are decided in one row', () => {
    const earlier = { first: ago(9_000), throughMs: NOW - 240 * MINUTE_MS };
    const row = (policy: Policy) => decided(policy, missed, { earlier })[0];
    expect(row({ catchUp: 'none' })).toBe('9000..240 skipped missed');
    expect(row({ catchUp: 'latest' })).toBe('9000..240 collapsed newer_slot');
    expect(row({ catchUp: 'all' })).toBe('9000..240 skipped catch_up_max');
    expect(row({ catchUp: 'all', catchUpWindowMs: 1 })).toBe('9000..240 skipped catch_up_window');
  });
});

describe('a time that does not exist', () => {
  const gap = (minute: number) => ago(1, { localMs: minute, gap: true });

  test('shift: it fires at the change, once for all that shift there', () => {
    expect(decided({}, [gap(1)])).toEqual(['1 fired']);
    expect(decided({}, [gap(1), gap(2), ago(1)])).toEqual([
      '1 collapsed dst_gap',
      '1 collapsed dst_gap',
      '1 fired',
    ]);
  });

  test('skip: it is skipped, and what exists at that instant fires', () => {
    expect(decided({ dstGap: 'skip' }, [gap(1), gap(2), ago(1)])).toEqual([
      '1 skipped dst_gap',
      '1 skipped dst_gap',
      '1 fired',
    ]);
  });
});

describe('while an earlier job goes on', () => {
  const active = { active: true };

  test('allow: it fires all the same', () => {
    expect(decided({}, [ago(0)], active)).toEqual(['0 fired']);
  });

  test('skip: it is skipped', () => {
    expect(decided({ overlap: 'skip' }, [ago(0)], active)).toEqual(['0 skipped overlap']);
  });

  test('skip: of several that catch up, the newest fires', () => {
    const policy = { overlap: 'skip', catchUp: 'all' } as const;
    expect(decided(policy, [ago(2), ago(0)])).toEqual(['2 skipped overlap', '0 fired']);
  });

  test('queue-one: the first waits, later ones join it, and it fires when the job is over', () => {
    const policy = { overlap: 'queue-one' } as const;
    expect(plan(policy, [ago(0)], active)).toEqual({ decided: [], held: 0 });
    const held = ago(10);
    expect(plan(policy, [ago(0)], { ...active, held })).toEqual({
      decided: ['0 collapsed overlap'],
      held: 10,
    });
    expect(plan(policy, [], { ...active, held })).toEqual({ decided: [], held: 10 });
    expect(plan(policy, [], { held })).toEqual({ decided: ['10 fired overlap'], held: null });
    expect(plan(policy, [ago(0)], { held })).toEqual({ decided: ['10 fired overlap'], held: 0 });
  });

  test('queue-one: of several that catch up, one fires, one waits', () => {
    const policy = { overlap: 'queue-one', catchUp: 'all' } as const;
    expect(plan(policy, [ago(4), ago(3), ago(2), ago(0)])).toEqual({
      decided: ['4 fired caught_up', '2 collapsed overlap', '0 collapsed overlap'],
      held: 3,
    });
  });

  test('a slot that was held is not forgotten when the policy changes', () => {
    const held = ago(10);
    expect(decided({ overlap: 'allow' }, [], { ...active, held })).toEqual(['10 fired overlap']);
    expect(decided({ overlap: 'skip' }, [], { ...active, held })).toEqual(['10 skipped overlap']);
  });
});

test('every due slot ends in exactly one way, or is held', () => {
  const slots = [ago(300), ago(60), ago(60, { localMs: 1, gap: true }), ago(2), ago(0)];
  slots.sort((a, b) => a.atMs - b.atMs || a.localMs - b.localMs);
  for (const catchUp of ['none', 'latest', 'all'] as const) {
    for (const overlap of ['allow', 'skip', 'queue-one'] as const) {
      for (const dstGap of ['shift', 'skip'] as const) {
        for (const active of [true, false]) {
          for (const held of [null, ago(400)]) {
            const due = { slots, earlier: null, held, active, nowMs: NOW };
            const policy = { ...SCHEDULE_DEFAULTS, catchUp, overlap, dstGap };
            const { decisions, held: still } = planSlots(policy, due);
            const ended = [...decisions.map(({ slot }) => slot), ...(still ? [still] : [])];
            const key = ({ atMs, localMs }: { atMs: number; localMs: number }) =>
              `${atMs} ${localMs}`;
            const all = [...slots, ...(held ? [held] : [])];
            expect(ended.map(key).sort()).toEqual(all.map(key).sort());
          }
        }
      }
    }
  }
});
