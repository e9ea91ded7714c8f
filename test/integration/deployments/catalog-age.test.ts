import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { Catalog } from '../../../src/store/enqueue/catalog.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase();

/** A catalog that was read at 0, its clock, and the end of each of its reads. */
async function aged() {
  const world = { nowMs: 0, reads: 0, ended: 0, fails: false };
  const held: Queryable = Object.assign(Object.create(database.db) as Queryable, {
    run: async (...args: Parameters<Queryable['run']>) => {
      const isFirst = args[0].name === 'list_releases';
      if (isFirst) world.reads += 1;
      const rows = await database.db.run(...args);
      if (isFirst && world.fails) {
        world.ended += 1;
        throw new Error('away');
      }
      if (!isFirst) world.ended += 1;
      return rows;
    },
  });
  const catalog = new Catalog(held, { ...systemClock, monotonicMs: () => world.nowMs });
  await catalog.refresh();
  const readEnded = async (count: number) => {
    await until('a read has ended', () => world.ended === count);
    await setImmediate();
  };
  return { catalog, world, readEnded };
}

it('a catalog that ages is read again, and no call waits for it', async () => {
  const { catalog, world, readEnded } = await aged();
  world.nowMs = 499;
  expect(catalog.refresh()).toBeUndefined();
  expect(world.reads).toBe(1);
  world.nowMs = 600;
  expect(catalog.refresh()).toBeUndefined();
  expect(catalog.refresh()).toBeUndefined();
  expect(world.reads).toBe(2);
  await readEnded(2);
  world.nowMs = 1_099;
  expect(catalog.refresh()).toBeUndefined();
  expect(world.reads).toBe(2);
  world.nowMs = 1_700;
  const late = catalog.refresh();
  expect(late).toBeInstanceOf(Promise);
  await late;
  expect(world.reads).toBe(3);
});

it('a read beside the calls may fail; the call that needs one gets the error', async () => {
  const { catalog, world, readEnded } = await aged();
  world.fails = true;
  world.nowMs = 600;
  expect(catalog.refresh()).toBeUndefined();
  await readEnded(2);
  world.nowMs = 1_100;
  await expect(catalog.refresh()).rejects.toThrow('away');
  world.fails = false;
  await catalog.refresh();
  expect(catalog.isFresh).toBe(true);
});

it('what is forgotten is read again at once, whatever read is under way', async () => {
  const { catalog, world } = await aged();
  world.nowMs = 600;
  expect(catalog.refresh()).toBeUndefined();
  world.nowMs = 601;
  catalog.forget();
  await catalog.refresh();
  expect(world.reads).toBe(3);
});
