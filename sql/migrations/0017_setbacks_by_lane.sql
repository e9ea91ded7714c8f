-- Failed and cancelled jobs are asked for by definition: of a healthy one, beside a hundred thousand
-- failures of others, there are few to find and all of those to pass. Now each lane has its own.
drop index longshore.done_unsuccessful;
create index done_unsuccessful on longshore.done (shard, lane, state, id) where state <> 'succeeded';
