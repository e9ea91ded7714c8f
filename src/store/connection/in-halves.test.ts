import { describe, expect, it } from 'vitest';
import { DatabaseUnavailable } from './db.ts';
import { inHalves } from './in-halves.ts';

/** A table that takes a batch wholly or not at all. */
function table(bad: readonly number[], awayAfter = Number.POSITIVE_INFINITY) {
  const taken: number[] = [];
  const refused: number[] = [];
  let writes = 0;
  const write = async (part: readonly number[]) => {
    writes += 1;
    if (writes > awayAfter) throw new DatabaseUnavailable('away');
    if (part.some((item) => bad.includes(item))) throw new Error('bad row');
    taken.push(...part);
  };
  const run = async (batch: readonly number[]) => {
    await inHalves(batch, write, (item) => void refused.push(item));
    return { taken, refused, writes };
  };
  return { run, taken };
}

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];

describe('a batch in halves', () => {
  it('is one write when nothing is wrong with it', async () => {
    expect(await table([]).run(EIGHT)).toEqual({ taken: EIGHT, refused: [], writes: 1 });
    expect(await table([]).run([])).toEqual({ taken: [], refused: [], writes: 1 });
  });

  it.each([[[1]], [[8]], [[3, 4]], [[1, 5, 8]], [EIGHT]])(
    'writes all but the bad ones among eight: %j',
    async (bad) => {
      const { taken, refused } = await table(bad).run(EIGHT);
      expect(taken).toEqual(EIGHT.filter((item) => !bad.includes(item)));
      expect(refused).toEqual(bad);
    },
  );

  it('finds one bad row of 500 by few writes', async () => {
    const many = Array.from({ length: 500 }, (_, n) => n);
    const { refused, writes } = await table([77]).run(many);
    expect(refused).toEqual([77]);
    expect(writes).toBeLessThan(20);
  });

  it('blames no row for a database that is away', async () => {
    const { run, taken } = table([8], 3);
    await expect(run(EIGHT)).rejects.toThrow(DatabaseUnavailable);
    expect(taken).toEqual([1, 2, 3, 4]);
  });
});
