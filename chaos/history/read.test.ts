import { expect, it } from 'vitest';
import { offsetAt } from './read.ts';

it('brings times onto the common clock by the last sample before them', () => {
  const samples = [
    { at: 100, wall: 1_100 },
    { at: 200, wall: 1_200 },
    // The wall clock was set.
    { at: 300, wall: 5_300 },
  ];
  const onClock = (wall: number) => wall - offsetAt(samples, wall);
  expect(onClock(1_050)).toBe(50);
  expect(onClock(1_150)).toBe(150);
  expect(onClock(1_250)).toBe(250);
  expect(onClock(5_400)).toBe(400);
  expect(() => offsetAt([], 1)).toThrow('clock.jsonl');
});
