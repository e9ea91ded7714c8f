import { ranksOf } from '../../../src/store/claim/find-levels.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';

const FIND_LEVELS = {
  name: 'test_find_levels',
  text: `select l.queue, r.rank from unnest($2::int[]) as l(queue) cross join lateral (${ranksOf('l.queue')}) r`,
};

/** The levels of these queues that have claimable jobs, as polls of workers find them. */
export async function findLevels(
  db: Queryable,
  shard: number,
  queues: readonly number[],
): Promise<{ queue: number; rank: number }[]> {
  return await db.run(FIND_LEVELS, [shard, queues]);
}
