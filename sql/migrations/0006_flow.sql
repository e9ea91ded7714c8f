--! breaking
-- Flow control: how many jobs run at a time, how often they start, and what is paused. A server that
-- knows nothing of it would claim past every limit, so older ones must not run beside this.
--
-- A limit is a counter in a row, a *limiter*, that whoever takes or gives back a token locks. To count
-- the running jobs instead would not do: a statement sees the database as it was before it waited for
-- its turn. Only what is limited pays: a queue without limiters costs one look at its row.
--
-- Limiters of definitions and tenants are passed at the claim. The limiter of a concurrency key is passed
-- earlier, when a job enters its line: a job whose key has no token is *blocked* outside the index that
-- claims read, so however many are blocked, nobody walks over them. Everybody locks rows of jobs first
-- and then limiters by their number, those of keys last; whoever locks limiters first skips locked jobs.

-- The number of a limiter is made from its name, so that it needs no look-up and no counter: 61 bits of
-- a hash, and above all others those of keys. Two names of one number would share a limit, never
-- exceed it.
create function longshore.limiter_of(kind text, name text) returns bigint
language sql immutable strict parallel safe as $$
  select ('x' || encode(substr(sha256(convert_to(kind || E'\n' || name, 'UTF8')), 1, 8), 'hex'))
    ::bit(64)::bigint & 2305843009213693951
    | case kind when 'key' then 4611686018427387904 else 0 end
$$;

-- `lim` and `rate` are what is allowed here: of a whole definition or tenant, divided by the shards.
-- `key_lim` and `key_rate` are what a definition allows each of its keys; the limiters of those name it
-- by `definition` and have none of their own, so that one row changes them all. `in_use` counts the
-- tokens that are out, `blocked` the jobs that wait for one. `tokens` is how many starts a rate had
-- left at `refilled_at`; `next_at` when a key has the next one. Until `adopt_until` somebody looks
-- for jobs that were claimed before the limiter was seen.
create table longshore.limiter (
  shard smallint not null,
  limiter bigint not null,
  name text,
  definition bigint,
  lim integer check (lim > 0),
  rate jsonb,
  key_lim integer check (key_lim > 0),
  key_rate jsonb,
  in_use integer not null default 0,
  blocked integer not null default 0,
  tokens double precision,
  refilled_at timestamptz,
  next_at timestamptz,
  adopt_until timestamptz,
  primary key (limiter, shard),
  check ((name is null) = (definition is not null))
) with (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.1);
create index limiter_blocked on longshore.limiter (shard, limiter) where blocked > 0;
create index limiter_next on longshore.limiter (shard, next_at) where next_at is not null;
create index limiter_adopting on longshore.limiter (shard, adopt_until) where adopt_until is not null;

-- The starts that a rate has left at a moment. A bucket that was never used is full.
create function longshore.tokens_at(
  rate jsonb, tokens double precision, refilled_at timestamptz, at timestamptz
) returns double precision
language sql immutable parallel safe as $$
  select case when rate is null then null
    when tokens is null then (rate ->> 'burst')::double precision
    else least((rate ->> 'burst')::double precision,
      tokens + greatest(0, extract(epoch from at - refilled_at)) * 1000
        * (rate ->> 'limit')::double precision / (rate ->> 'perMs')::double precision) end
$$;

-- How long until a rate that has fewer than one start left has one; 0 when it has.
create function longshore.token_in_ms(rate jsonb, tokens double precision)
returns double precision
language sql immutable parallel safe as $$
  select greatest(0, 1 - tokens)
    * (rate ->> 'perMs')::double precision / (rate ->> 'limit')::double precision
$$;

-- What people set in place of what the code of a definition says.
create table longshore.limit_override (
  scope text not null check (scope in ('definition', 'tenant')),
  name text not null,
  limits jsonb not null,
  changed_by text,
  changed_at timestamptz not null,
  primary key (scope, name)
);

create table longshore.pause (
  scope text not null check (scope in ('all', 'tenant', 'definition')),
  name text not null,
  paused_by text,
  reason text,
  paused_at timestamptz not null,
  primary key (scope, name),
  check ((scope = 'all') = (name = ''))
);

-- A queue knows the limiters that its claims pass, whether keys are limited, and since when it is paused:
-- one look at this row tells a claim all there is to know.
alter table longshore.queue
  drop column definition_limiter, drop column tenant_limiter, drop column paused_by, drop column paused_why;
alter table longshore.queue
  add column definition_limiter bigint,
  add column tenant_limiter bigint,
  add column keyed boolean not null default false;

-- Limits and pauses are changed while nobody makes a queue: a queue that is made afterwards sees them.
create function longshore.lock_queues() returns void
language plpgsql as $$
begin
  lock table longshore.queue in share row exclusive mode;
end $$;

-- key_limiter is the limiter of the job's concurrency key, whether or not keys are limited now; has_permit says
-- that the job holds one of its tokens.
drop index longshore.waiting_blocked;
alter table longshore.waiting drop column key_limiter;
alter table longshore.waiting
  add column key_limiter bigint,
  add column has_permit boolean not null default false,
  add check (not has_permit or (key_limiter is not null and state = 'queued' and blocked is null)),
  add check (blocked is null or key_limiter is not null);
create index waiting_blocked on longshore.waiting (shard, key_limiter, rank, blocked)
  where blocked is not null;
create index waiting_permitted on longshore.waiting (shard, key_limiter) where has_permit;
-- In the line without a token: nothing is wrong with that until keys become limited.
create index waiting_without_permit on longshore.waiting (shard, queue, seq)
  where key_limiter is not null and seq is not null and not has_permit;

-- The limiters of which this claim holds a token: what is given back is what was taken, whatever the
-- limits are by then.
alter table longshore.running drop column key_limiter;
alter table longshore.running add column key_limiter bigint, add column tokens bigint[];
