import { describe, expect, it } from 'vitest';
import type { Call, CallOf } from './calls.ts';
import { judge, pausesEnough, pausesMs } from './judge.ts';

const JOB = { id: '0199f0a1-0000-7000-8000-000000000000', claim: 1 };
const SUCCESS = { kind: 'success', resultJson: '1' } as const;
const NOTHING = {
  arrivedMs: 0,
  problems: [],
  fault: null,
  endedMs: null,
  status: 200,
  sent: [],
  body: null,
  reply: null,
};

const turn = (at: number, more: Partial<CallOf<'turn'>> = {}): Call => {
  return { ...NOTHING, kind: 'turn', instance: 'a', at, endedAt: at + 1, ...more };
};
const delivers = (at: number) => turn(at, { sent: [JOB] });
const reports = (at: number, more: Partial<CallOf<'turn'>> = {}) =>
  turn(at, {
    body: {
      outcomes: [{ ...JOB, outcome: SUCCESS }],
      room: 0,
      waitMs: 0,
      idle: false,
      masked: false,
    },
    reply: { settled: [{ ...JOB, next: 'succeeded' }], jobs: [], beat: false },
    ...more,
  });
const gone = (at: number): Call => ({
  ...NOTHING,
  kind: 'beat',
  instance: 'a',
  at,
  endedAt: at + 1,
  body: { holding: [JOB] },
  reply: { cancel: [], gone: [JOB.id], unheld: [], drain: false },
});
const registers = (at: number, instance: string): Call => {
  return { ...NOTHING, kind: 'register', instance, at, endedAt: at + 1 };
};
const takes = (at: number, instance: string) =>
  turn(at, { instance, body: { outcomes: [], room: 1, waitMs: 0, idle: false, masked: false } });

const failures = (calls: readonly Call[]) =>
  judge(calls)
    .filter(({ status }) => status === 'failed')
    .map(({ rule, check }) => `${rule}: ${check}`);

describe('the calls of a worker', () => {
  it('are in order: a job comes, its outcome goes, also twice if the answer is lost', () => {
    expect(failures([delivers(1), reports(3)])).toEqual([]);
    expect(failures([delivers(1), reports(3, { reply: null }), reports(5)])).toEqual([]);
  });

  it.each([
    ['an outcome of a claim that it did not get', [reports(1)], '4: reports only about claims'],
    ['an outcome of another id', [delivers(1), reports(3, { instance: 'b' })], '4: reports only'],
    ['a settled outcome again', [delivers(1), reports(3), reports(5)], '4: reports nothing again'],
    [
      'an outcome of a gone job',
      [delivers(1), gone(3), reports(2_000)],
      '2: reports nothing about',
    ],
    [
      'a turn of a former id',
      [registers(1, 'a'), registers(3, 'b'), takes(5, 'a')],
      '3: takes no jobs with an id',
    ],
    ['a wrong body', [turn(1, { problems: ['turn: room'] })], '7: sends the key and bodies'],
  ])('are not: %s', (_, calls, rule) => {
    expect(failures(calls)).toEqual([expect.stringMatching(`^${rule}`)]);
  });

  it('may cross: an outcome that was on its way when the job was gone', () => {
    expect(failures([delivers(1), gone(3), reports(900)])).toEqual([]);
  });
});

it('pauses between failing calls may be random, but not all of them short', () => {
  const failed = [0, 10, 30, 1_000].map((arrivedMs) => ({ arrivedMs, endedMs: arrivedMs + 1 }));
  expect(pausesMs(failed)).toEqual([9, 19, 969]);
  expect(pausesEnough([9, 19, 969])).toBe(true);
  expect(pausesEnough([9, 19, 20, 30])).toBe(false);
});
