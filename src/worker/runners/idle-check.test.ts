import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdleCheck } from './idle-check.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A process without a job, which answers that it has none and uses this part of a core. */
function idleProcess(partAt: (second: number) => number) {
  const seen = { questions: 0, ended: false };
  let cpuMs = 0;
  let second = 0;
  const check = new IdleCheck({
    ask: () => {
      seen.questions += 1;
      check.answered(false);
    },
    cpuMs: () => cpuMs,
    end: () => {
      seen.ended = true;
      check.stop();
    },
  });
  check.begin();
  const pass = (seconds: number) => {
    for (const end = second + seconds; second < end; second += 1) {
      cpuMs += 1_000 * partAt(second);
      vi.advanceTimersByTime(1_000);
    }
  };
  return { seen, check, pass };
}

test('a process that computes only after it was asked for the first time is ended', () => {
  const { seen, pass } = idleProcess((second) => (second < 10 ? 0 : 1));
  pass(10);
  expect(seen).toEqual({ questions: 1, ended: false });
  pass(20);
  expect(seen.ended).toBe(true);
});

test('one that does nothing stays', () => {
  const { seen, pass } = idleProcess(() => 0);
  pass(100);
  expect(seen.ended).toBe(false);
  expect(seen.questions).toBeGreaterThan(2);
});

test('one that has a job is not asked', () => {
  const { seen, check, pass } = idleProcess(() => 1);
  check.stop();
  pass(100);
  expect(seen).toEqual({ questions: 0, ended: false });
});
