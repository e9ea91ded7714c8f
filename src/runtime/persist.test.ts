import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from './log.ts';
import { Backoff, persist } from './persist.ts';
import { StartRefusal } from './start-refusal.ts';

/** Fails with these one after another, then works. */
function failing(...errors: Error[]): { work: () => Promise<string>; tries: () => number } {
  let tries = 0;
  const work = async () => {
    const error = errors[tries];
    tries += 1;
    if (error) throw error;
    return 'done';
  };
  return { work, tries: () => tries };
}

const options = (signal = new AbortController().signal) => ({
  what: 'the test',
  log: silentLog,
  signal,
  backoff: new Backoff(0, 0),
});

const reasonOf = (of: object) => ('reason' in of ? String(of.reason) : '');

describe('persist', () => {
  it('tries again until it works', async () => {
    const { work, tries } = failing(new Error('a'), new Error('a'), new TypeError('b'));
    expect(await persist(work, options())).toBe('done');
    expect(tries()).toBe(4);
  });

  it('warns of a new reason at once, and of the same one every 15 seconds', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const warned: string[] = [];
    const log = { ...silentLog, debug: () => {}, warn: (of: object) => warned.push(reasonOf(of)) };
    const { work } = failing(...Array.from({ length: 8 }, () => new Error('a')), new Error('b'));
    const backoff = new Backoff(5_000, 5_000);
    const done = persist(work, { ...options(), log: log as never, backoff });
    await vi.runAllTimersAsync();
    expect(await done).toBe('done');
    expect(warned).toEqual(['a', 'a', 'a', 'b']);
  });

  it('gives up at once when trying again cannot help', async () => {
    const refusal = new StartRefusal('configuration', 'no');
    const { work, tries } = failing(new Error('a'), refusal);
    await expect(persist(work, options())).rejects.toBe(refusal);
    expect(tries()).toBe(2);
  });

  it('ends with the last failure when it is stopped', async () => {
    const stop = new AbortController();
    const error = new Error('a');
    const work = async () => {
      stop.abort();
      throw error;
    };
    await expect(persist(work, options(stop.signal))).rejects.toBe(error);
  });
});

it('pauses grow to a limit, and begin anew after a reset', () => {
  const backoff = new Backoff(200, 1_000);
  const pauses = () => [backoff.next(), backoff.next(), backoff.next(), backoff.next()];
  expect(pauses()).toEqual([200, 400, 800, 1_000]);
  backoff.reset();
  expect(backoff.next()).toBe(200);
});
