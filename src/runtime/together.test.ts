import { expect, it } from 'vitest';
import { Together } from './together.ts';

it('does together what is asked for in one turn or while a call is under way', async () => {
  const calls: number[][] = [];
  const first = Promise.withResolvers<void>();
  const together = new Together<number, number>(3, async (items) => {
    calls.push([...items]);
    if (calls.length === 1) await first.promise;
    return items.map((item) => item * 10);
  });
  const early = [1, 2].map(async (item) => await together.ask(item));
  await expect.poll(() => calls).toEqual([[1, 2]]);
  const late = [3, 4, 5, 6].map(async (item) => await together.ask(item));
  first.resolve();
  expect(await Promise.all([...early, ...late])).toEqual([10, 20, 30, 40, 50, 60]);
  expect(calls).toEqual([[1, 2], [3, 4, 5], [6]]);
});

it('fails only those of the call that failed', async () => {
  const together = new Together<number, number>(1, async ([item = 0]) => {
    if (item === 1) throw new Error('no');
    return [item];
  });
  const [one, two] = [together.ask(1), together.ask(2)];
  await expect(one).rejects.toThrow('no');
  expect(await two).toBe(2);
  expect(await together.ask(3)).toBe(3);
});
