import { expect, test } from 'vitest';
import { SearchSlots } from './search-slots.ts';

test('twenty searches of one tenant leave room for those of another', async () => {
  const slots = new SearchSlots();
  const limiter = Promise.withResolvers<void>();
  const begun: string[] = [];
  const search = async (tenant: string) =>
    await slots.run(tenant, async () => {
      begun.push(tenant);
      await limiter.promise;
    });
  const all = [...Array<string>(20).fill('acme'), 'other', 'third', 'fourth'].map(search);
  await Promise.resolve();
  expect(begun).toEqual(['acme', 'acme', 'other', 'third']);
  limiter.resolve();
  await Promise.all(all);
  expect(begun).toHaveLength(23);
});

test('a search that fails frees its place, and too many that wait are refused', async () => {
  const slots = new SearchSlots();
  await expect(slots.run('a', async () => await Promise.reject(new Error('no')))).rejects.toThrow(
    'no',
  );
  const limiter = Promise.withResolvers<void>();
  const many = Array.from(
    { length: 52 },
    async () => await slots.run('a', async () => await limiter.promise),
  );
  await expect(slots.run('a', async () => 1)).rejects.toThrow('too many searches are waiting');
  expect(await slots.run('b', async () => 1)).toBe(1);
  limiter.resolve();
  await Promise.all(many);
  expect(await slots.run('a', async () => 1)).toBe(1);
});
