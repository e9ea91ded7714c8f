import { expect, it } from 'vitest';
import { Together, TogetherPerKey } from './together.ts';

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

it('does not let a key wait for a call of another key', async () => {
  const hanging = Promise.withResolvers<void>();
  const calls: string[] = [];
  const together = new TogetherPerKey<string, number, number>(2, async (key, items) => {
    calls.push(`${key}: ${items.join()}`);
    if (key === 'hangs') await hanging.promise;
    return items;
  });
  const late = together.ask('hangs', 1);
  await expect.poll(() => calls).toEqual(['hangs: 1']);
  expect(await Promise.all([together.ask('works', 2), together.ask('works', 3)])).toEqual([2, 3]);
  expect(calls).toEqual(['hangs: 1', 'works: 2,3']);
  hanging.resolve();
  expect(await late).toBe(1);
});
