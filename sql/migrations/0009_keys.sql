-- Who may call, and what people did. All of it is small and written by people, so it has no shard.

-- Who owns jobs, schedules and keys. The default tenant is also the host: its keys may look after what
-- all tenants share, the workers above all.
create table longshore.tenant (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  created_at timestamptz not null default clock_timestamp()
);
insert into longshore.tenant (name) values ('default');

-- A key is `lsk_<id>_<secret>`. Only the SHA-256 of the secret is kept: it has 256 random bits, so that
-- nothing slower is needed. A rotated key names its successor, and works until it expires. Rows stay when
-- a key is revoked: once there was a key, the server never opens itself again.
create table longshore.api_key (
  id text primary key check (id ~ '^[0-9a-f]{16}$'),
  tenant text not null,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  successor text
);
create index api_key_tenant on longshore.api_key (tenant, id) where tenant is not null;

-- A browser that has shown a key. It may do what its key may, as long as its key may. What is kept is
-- again a hash: nobody who reads this table can be anybody.
create table longshore.session (
  id_hash bytea primary key check (octet_length(id_hash) = 32),
  key_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index session_expiry on longshore.session (expires_at) where expires_at is not null;

-- What people did by hand, and what they changed. Ids are time-ordered. `before` and `after` are json, not jsonb, which has no
-- place for some texts that names may have.
create table longshore.audit (
  id uuid primary key,
  at timestamptz not null default clock_timestamp(),
  tenant text not null,
  actor text not null,
  action text not null,
  subject text not null,
  before json,
  after json,
  address text
);
create index audit_tenant on longshore.audit (tenant, id) where tenant is not null;
create index audit_subject on longshore.audit (tenant, subject, id) where subject is not null;

-- Rows are added, and that is all that ever happens to them.
create function longshore.audit_is_append_only() returns trigger
  language plpgsql as $$
begin
  raise exception 'longshore.audit is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_is_append_only before update or delete on longshore.audit
  for each row execute function longshore.audit_is_append_only();
create trigger audit_is_never_emptied before truncate on longshore.audit
  for each statement execute function longshore.audit_is_append_only();
