--! breaking
-- Flow control: how many jobs run at a time, how often they start, and what is paused. A server that
-- knows nothing of it would claim past every limit, so older ones must not run beside this.
--
-- A limit is a counter in a row, a *gate*, that whoever takes or gives back a token locks. To count
-- the running jobs instead would not do: a statement sees the database as it was before it waited for
-- its turn. Only what is limited pays: a lane without gates costs one look at its row.
--
-- Gates of definitions and tenants are passed at the claim. The gate of a concurrency key is passed
-- earlier, when a job enters its line: a job whose key has no token is *parked* outside the index that
-- claims read, so however many are blocked, nobody walks over them. Everybody locks rows of jobs first
-- and then gates by their number, those of keys last; whoever locks gates first skips locked jobs.

-- The number of a gate is made from its name, so that it needs no look-up and no counter: 61 bits of
-- a hash, and above all others those of keys. Two names of one number would share a limit, never
-- exceed it.
create function longshore.gate_of(kind text, name text) returns bigint
language sql immutable strict parallel safe as $$
  select ('x' || encode(substr(sha256(convert_to(kind || E'\n' || name, 'UTF8')), 1, 8), 'hex'))
    ::bit(64)::bigint & 2305843009213693951
    | case kind when 'key' then 4611686018427387904 else 0 end
$$;

-- `lim` and `rate` are what is allowed here: of a whole definition or tenant, divided by the shards.
-- `key_lim` and `key_rate` are what a definition allows each of its keys; the gates of those name it
-- by `definition` and have none of their own, so that one row changes them all. `in_use` counts the
-- tokens that are out, `parked` the jobs that wait for one. `tokens` is how many starts a rate had
-- left at `refilled_at`; `next_at` when a key has the next one. Until `adopt_until` somebody looks
-- for jobs that were claimed before the gate was seen.
create table longshore.gate (
  shard smallint not null,
  gate bigint not null,
  name text,
  definition bigint,
  lim integer check (lim > 0),
  rate jsonb,
  key_lim integer check (key_lim > 0),
  key_rate jsonb,
  in_use integer not null default 0,
  parked integer not null default 0,
  tokens double precision,
  refilled_at timestamptz,
  next_at timestamptz,
  adopt_until timestamptz,
  primary key (gate, shard),
  check ((name is null) = (definition is not null))
) with (fillfactor = 50, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0.1);
create index gate_parked on longshore.gate (shard, gate) where parked > 0;
create index gate_next on longshore.gate (shard, next_at) where next_at is not null;
create index gate_adopting on longshore.gate (shard, adopt_until) where adopt_until is not null;

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

-- A lane knows the gates that its claims pass, whether keys are limited, and since when it is paused:
-- one look at this row tells a claim all there is to know.
alter table longshore.lane
  drop column dgate, drop column tgate, drop column paused_by, drop column paused_why;
alter table longshore.lane
  add column dgate bigint,
  add column tgate bigint,
  add column keyed boolean not null default false;

-- Limits and pauses are changed while nobody makes a lane: a lane that is made afterwards sees them.
create function longshore.lock_lanes() returns void
language plpgsql as $$
begin
  lock table longshore.lane in share row exclusive mode;
end $$;

-- kgate is the gate of the job's concurrency key, whether or not keys are limited now; key_token says
-- that the job holds one of its tokens.
drop index longshore.waiting_parked;
alter table longshore.waiting drop column kgate;
alter table longshore.waiting
  add column kgate bigint,
  add column key_token boolean not null default false,
  add check (not key_token or (kgate is not null and state = 'queued' and parked is null)),
  add check (parked is null or kgate is not null);
create index waiting_parked on longshore.waiting (shard, kgate, rank, parked)
  where parked is not null;
create index waiting_admitted on longshore.waiting (shard, kgate) where key_token;
-- In the line without a token: nothing is wrong with that until keys become limited.
create index waiting_tokenless on longshore.waiting (shard, lane, seq)
  where kgate is not null and seq is not null and not key_token;

-- The gates of which this claim holds a token: what is given back is what was taken, whatever the
-- limits are by then.
alter table longshore.running drop column kgate;
alter table longshore.running add column kgate bigint, add column tokens bigint[];
