import { expect } from 'vitest';
import type { TestDatabase } from '../servers/database.ts';

/** By queue and state: what the counters says, folded or not, where that is not what is there. */
const WRONG = `
  with counted as (
    select shard, queue, was, state, n from longshore.counter
    union all select shard, queue, was, state, n from longshore.counter_delta
  )
  select queue, state, sum(counted)::int as counted, sum(found)::int as found from (
    select shard, queue, state, n as counted, 0 as found from counted
    union all select shard, queue, was, -n, 0 from counted
    union all select shard, queue, state, 0, 1 from longshore.waiting
    union all select shard, queue, state, 0, 1 from longshore.running
    union all select shard, queue, state, 0, 1 from longshore.done
  ) all_of_it
  where state is not null
  group by shard, queue, state having sum(counted) <> sum(found)`;

/** Whatever the product has done to jobs, its counters say the same as a count. */
export async function expectTrueCounters({ sql }: Pick<TestDatabase, 'sql'>): Promise<void> {
  expect(await sql(WRONG)).toEqual([]);
}
