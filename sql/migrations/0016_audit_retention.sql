-- The audit log may be given a retention. What is younger than 30 days can still be changed or removed by
-- nobody, so that whoever does something cannot also make it undone that it was written down.
create or replace function longshore.audit_is_append_only() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < clock_timestamp() - interval '30 days' then
    return old;
  end if;
  raise exception 'longshore.audit is append-only' using errcode = 'insufficient_privilege';
end $$;
