import { expect, it } from 'vitest';
import { Gate } from './gate.ts';

it('lets so many through at a time, the others in order, also after a failure', async () => {
  const gate = new Gate(2);
  const begun: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const works = ends.map(async ({ promise }, n) => {
    return await gate.through(async () => {
      begun.push(n);
      await promise;
      return n;
    });
  });
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error('no'));
  await expect(works[1]).rejects.toThrow('no');
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  expect(await Promise.all([works[0], works[2], works[3]])).toEqual([0, 2, 3]);
});
