-- What people do about failures: find them, retry or delete them, one by one or many at once.

-- What an error is apart from the details of one occurrence (core/failure/fingerprint.ts): failures with the
-- same one are the same mistake. Those from before it was stored are told apart by their code.
alter table longshore.attempt add column fingerprint text;
update longshore.done set fingerprint = error_code where state = 'failed' and fingerprint is null;

-- A job that is retried by hand leaves `done`, and its outcome must stay to be read. It is kept as
-- the attempt that it ended with, and `retried` says when, how and by which other params it went on.
-- A job that was cancelled or failed while it waited had no attempt: its row has neither a worker
-- nor a start, and is part of the job's history but not of its attempts.
alter table longshore.attempt
  add column retried json,
  alter column worker drop not null,
  alter column started_at drop not null;

-- Dead letters by the time of their end, and by fingerprint. Each index names what the questions for
-- the other one do not, so that the planner cannot mix them up; the one before served neither.
drop index longshore.done_failed;
create index done_dead on longshore.done (shard, queue, finished_at, id)
  where state = 'failed' and error_code is not null;
create index done_fingerprint on longshore.done (shard, queue, fingerprint, finished_at, id)
  where state = 'failed' and fingerprint is not null;

-- One thing done to many jobs: to all that match a filter and were there before a moment. It is
-- worked off in batches; how far it has come is written in the transaction of each batch. So a kill
-- in between neither skips a job nor acts on one twice. Written by people, hence few.
create table longshore.bulk (
  id uuid primary key,
  tenant text not null,
  action text not null check (action in ('cancel', 'retry', 'delete')),
  filter jsonb not null,
  how jsonb not null,
  status text not null default 'running' check (status in ('running', 'finished', 'aborted')),
  -- Nothing that was made, or ended, later than this is touched.
  before timestamptz not null,
  -- What a count found at the beginning; when it is not exact, there were more.
  matched integer not null check (matched >= 0),
  matched_exactly boolean not null,
  -- The walk goes shard by shard, and through each one by id.
  at_shard smallint not null default 0,
  after_id uuid,
  changed integer not null default 0,
  skipped integer not null default 0,
  failed integer not null default 0,
  note text,
  next_at timestamptz not null,
  finished_at timestamptz
);
create index bulk_due on longshore.bulk (next_at) where status = 'running';
create index bulk_tenant on longshore.bulk (tenant, id) where tenant is not null;
