-- A server that has run for a week has a partition for each of its days. A new one has a single
-- partition for all that lies before today: it is made to end a week earlier, and the days follow.
do $$
declare
  parent regclass;
  oldest regclass;
  today timestamptz := date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC';
  day timestamptz;
  part text;
begin
  for parent, oldest in
    select i.inhparent::regclass, i.inhrelid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid and c.relkind = 'r'
    join pg_class p on p.oid = i.inhparent and p.relnamespace = 'longshore'::regnamespace
    where pg_get_expr(c.relpartbound, c.oid) like '%(MINVALUE)%'
  loop
    execute format('alter table %s detach partition %s', parent, oldest);
    execute format('alter table %s attach partition %s for values from (minvalue) to (%L)',
      parent, oldest, longshore.id_floor(today - interval '168 hours'));
    for n in reverse 7..1 loop
      day := today - make_interval(hours => 24 * n);
      part := replace(parent::text, 'longshore.', '')
        || to_char(day at time zone 'UTC', '"_p"YYYYMMDD');
      execute format('create table longshore.%I partition of %s for values from (%L) to (%L)',
        part, parent, longshore.id_floor(day), longshore.id_floor(day + interval '24 hours'));
    end loop;
  end loop;
end $$;
