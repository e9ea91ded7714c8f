-- For workers that also beat in Redis. Their lease is long and mostly only looked at, not renewed.
-- contact_ms is what such a worker promises: so long after it last heard from the database, it has
-- stopped by itself whatever it ran. Null: it stops before its lease ends, and promises no more.
-- suspected_at is set when its beats are missing; a worker that is alive sees it and renews.
alter table longshore.worker
  add column contact_ms integer check (contact_ms > 0),
  add column suspected_at timestamptz;
