-- A job that fails when nobody has its code for a while (`POST /api/jobs/enqueue`); all others wait
-- for a worker that has. Null is "no", so the rows of all others are as long as before. The index
-- holds those that are queued, queue by queue: what nobody serves is found without reading the rest.
alter table longshore.waiting add column fails_unhandled boolean;
create index waiting_unhandled on longshore.waiting (shard, queue, queued_at)
  where fails_unhandled and state = 'queued';
