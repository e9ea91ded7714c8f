import { expect, test } from 'vitest';
import { inSlices, OneAtATime } from './slices.ts';

function* counting(steps: number) {
  for (let n = 0; n < steps; n += 1) yield;
  return steps;
}

test('work that has gone on for a slice lets others go on, and ends with its result', async () => {
  let pauses = 0;
  const pause = async () => void (pauses += 1);
  expect(await inSlices(counting(5), 0, pause)).toBe(5);
  expect(pauses).toBe(5);
  expect(await inSlices(counting(5), Infinity, pause)).toBe(5);
  expect(pauses).toBe(5);
});

test('large work is done one piece at a time, and a failure stops only itself', async () => {
  const turns = new OneAtATime();
  const limiter = Promise.withResolvers<void>();
  const done: string[] = [];
  const first = turns.run(async () => {
    await limiter.promise;
    done.push('first');
    throw new Error('broken');
  });
  const second = turns.run(async () => done.push('second'));
  limiter.resolve();
  await expect(first).rejects.toThrow('broken');
  await second;
  expect(done).toEqual(['first', 'second']);
});
