/** The ranks of a queue in shard $1 that have claimable jobs: one index probe per rank, not a scan. */
export const ranksOf = (queue: string) => `
  with recursive step as (
    (select w.rank from longshore.waiting w
     where w.shard = $1 and w.queue = ${queue} and w.seq is not null
     order by w.rank limit 1)
    union all
    select (select w.rank from longshore.waiting w
            where w.shard = $1 and w.queue = ${queue} and w.seq is not null and w.rank > step.rank
            order by w.rank limit 1)
    from step where step.rank is not null
  )
  select step.rank from step where step.rank is not null`;
