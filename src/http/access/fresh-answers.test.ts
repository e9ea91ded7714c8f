import { expect, test } from 'vitest';
import { FreshAnswers } from './fresh-answers.ts';

function answers() {
  const at = { ms: 0, asked: 0 };
  const clock = { now: () => new Date(), monotonicMs: () => at.ms, random: () => 0 };
  const fresh = new FreshAnswers<number>(clock, 500);
  const ask = async (question = 'a') => await fresh.get(question, async () => (at.asked += 1));
  return { at, fresh, ask };
}

test('an answer is asked for once, and anew when it is no longer fresh', async () => {
  const { at, ask } = answers();
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  at.ms = 499;
  expect(await ask()).toBe(1);
  at.ms = 500;
  expect(await ask()).toBe(2);
  expect(await ask('b')).toBe(3);
});

test('an answer can be forgotten, and a failure is not remembered', async () => {
  const { fresh, ask } = answers();
  expect(await ask()).toBe(1);
  fresh.forget('a');
  expect(await ask()).toBe(2);
  await expect(fresh.get('c', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await ask('c')).toBe(3);
});

test('what is remembered is bounded', async () => {
  const { at, ask } = answers();
  await ask('first');
  for (let n = 0; n < 10_000; n += 1) await ask(String(n));
  const before = at.asked;
  await ask('9999');
  expect(at.asked).toBe(before);
  await ask('first');
  expect(at.asked).toBe(before + 1);
});
