import { expect } from 'vitest';
import type { TestDatabase } from '../servers/database.ts';

/** By lane and state: what the tally says, folded or not, where that is not what is there. */
const WRONG = `
  with told as (
    select shard, lane, was, state, n from longshore.tally
    union all select shard, lane, was, state, n from longshore.tally_delta
  )
  select lane, state, sum(told)::int as told, sum(found)::int as found from (
    select shard, lane, state, n as told, 0 as found from told
    union all select shard, lane, was, -n, 0 from told
    union all select shard, lane, state, 0, 1 from longshore.waiting
    union all select shard, lane, state, 0, 1 from longshore.running
    union all select shard, lane, state, 0, 1 from longshore.done
  ) all_of_it
  where state is not null
  group by shard, lane, state having sum(told) <> sum(found)`;

/** Whatever the product has done to jobs, its counters say the same as a count. */
export async function expectTrueTally({ sql }: Pick<TestDatabase, 'sql'>): Promise<void> {
  expect(await sql(WRONG)).toEqual([]);
}
