-- What the overview and searches must find, however many other jobs there are.

-- Failed jobs by the code of their error. A job that succeeds has no code, and is not in it.
create index done_code on longshore.done (shard, queue, error_code, id) where error_code is not null;

-- Waiting jobs that were claimed before: those that may have failed. A job that waits for its first
-- claim is not in it.
create index waiting_tried on longshore.waiting (shard, queue, id) where claim_no > 0;

-- The oldest job of a queue that waits behind a concurrency key.
create index waiting_blocked_oldest on longshore.waiting (shard, queue, queued_at) where blocked is not null;
