import { describe, expect, it, vi } from 'vitest';
import type { Execution } from '../attempt/execution.ts';
import { Slots } from './slots.ts';

/** A clock that the test moves, and jobs that end when the test says so. */
function rig(size: number) {
  let nowMs = 0;
  const ends: (() => void)[] = [];
  const started: number[] = [];
  const givenBack: number[] = [];
  const numberOf = ({ shard }: Execution) => shard;
  const slots = new Slots({
    size,
    clock: { now: () => new Date(0), monotonicMs: () => nowMs, random: () => 0 },
    run: (execution) => {
      started.push(numberOf(execution));
      ends.push(() => slots.ended(execution));
    },
    returnJobs: (executions) => givenBack.push(...executions.map(numberOf)),
  });
  const accept = (...jobs: number[]) =>
    slots.accept(
      jobs.map((shard) => ({ shard, slotMs: 0 }) as Execution),
      0,
    );
  const endAll = (tookMs: number) => {
    nowMs += tookMs;
    for (const end of ends.splice(0)) end();
  };
  return { slots, accept, endAll, started, givenBack };
}

describe('slots', () => {
  it('have room for what fits at once, as long as nothing is known of the jobs', () => {
    const { slots, accept } = rig(3);
    expect(slots.room).toBe(3);
    accept(1, 2);
    expect(slots.room).toBe(1);
    slots.promise(1, null);
    expect(slots.room).toBe(0);
  });

  it('run no more than their number, and start the next when one ends', () => {
    const { accept, endAll, started } = rig(2);
    accept(1, 2, 3, 4);
    expect(started).toEqual([1, 2]);
    endAll(1);
    expect(started).toEqual([1, 2, 3, 4]);
  });

  it('claim ahead when jobs are quick, within a few milliseconds of work', () => {
    const { slots, accept, endAll } = rig(2);
    accept(1, 2);
    endAll(1);
    expect(slots.room).toBe(2 + 2 * 20);
  });

  it('claim nothing ahead when jobs are slow', () => {
    const { slots, accept, endAll } = rig(2);
    accept(1, 2);
    endAll(500);
    expect(slots.room).toBe(2);
  });

  it('give back what waits when a slow job gets in the way, and claim no more ahead', () => {
    vi.useFakeTimers();
    const { slots, accept, givenBack, started } = rig(1);
    accept(1, 2, 3);
    vi.advanceTimersByTime(1_000);
    expect({ started, givenBack }).toEqual({ started: [1], givenBack: [2, 3] });
    expect(slots.room).toBe(0);
    vi.useRealTimers();
  });

  it('hand out what has not started when they are asked to', () => {
    const { slots, accept } = rig(1);
    accept(1, 2, 3);
    expect(slots.drop().map(({ shard }) => shard)).toEqual([2, 3]);
    expect(slots.drop()).toEqual([]);
  });
});
