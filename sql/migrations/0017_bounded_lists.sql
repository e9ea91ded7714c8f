-- Lists of jobs are walked along an index, and must not pass much that is not asked for.

-- Failed and cancelled jobs are asked for by definition: of a healthy one, beside a hundred thousand
-- failures of others, there are few to find and all of those to pass. Now each queue has its own.
drop index longshore.done_unsuccessful;
create index done_unsuccessful on longshore.done (shard, queue, state, id) where state <> 'succeeded';

-- A million jobs may be due at the same moment, and a page of them begins in their midst.
drop index longshore.waiting_due;
create index waiting_due on longshore.waiting (shard, run_at, id)
  where state in ('scheduled', 'retrying');
