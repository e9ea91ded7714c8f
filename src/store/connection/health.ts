import { type Queryable, statement } from './db.ts';

/**
 * What blocks vacuum. An open transaction pins a moment (its xmin): rows that died later cannot be
 * removed, anywhere in the database. It shows first in the queue tables, which are written and
 * deleted all the time.
 */
export interface Holder {
  kind: 'transaction' | 'prepared transaction' | 'replication slot';
  /** The process, transaction or slot, for display. */
  name: string;
  /** Identifies this holder. */
  mark: string;
  /** Null when unknown: slots have no clock, and some sessions are hidden. */
  heldMs: number | null;
  pid: number | null;
  application: string | null;
  state: string | null;
  queryStart: Date | null;
}

/**
 * The holder of the oldest xmin. It ignores vacuum, this session, sessions that are just
 * connecting and sessions of other databases. A holder without a clock counts only when it is
 * behind: without writes, the xmin of a healthy standby stands still as well.
 */
const FIND_HOLDER = statement<Holder>(
  'find_xmin_holder',
  `select kind, name, mark, held_ms as "heldMs", pid, application, state,
     query_start as "queryStart"
   from (
     select 'transaction' as kind, 'process ' || a.pid as name,
       a.pid || ' ' || coalesce(a.xact_start::text, pin.xmin::text) as mark,
       (extract(epoch from clock_timestamp() - a.xact_start) * 1000)::float8 as held_ms, a.pid,
       nullif(a.application_name, '') as application, a.state, a.query_start, age(pin.xmin) as age
     from pg_stat_activity a
     cross join lateral (
       select case when age(a.backend_xid) > age(a.backend_xmin) then a.backend_xid
         else coalesce(a.backend_xmin, a.backend_xid) end as xmin
     ) pin
     where pin.xmin is not null and a.pid <> pg_backend_pid()
       and a.backend_type in ('client backend', 'walsender', 'background worker')
       and a.state is distinct from 'starting'
       and (a.datname = current_database() or a.datname is null)
     union all
     select 'prepared transaction', p.gid, p.gid || ' ' || p.prepared,
       (extract(epoch from clock_timestamp() - p.prepared) * 1000)::float8, null, null, null,
       p.prepared, age(p.transaction)
     from pg_prepared_xacts p where p.database = current_database()
     union all
     select 'replication slot', s.slot_name, s.slot_name || ' ' || s.xmin, null, s.active_pid, null,
       case when s.active then 'active' else 'inactive' end, null, age(s.xmin)
     from pg_replication_slots s where s.xmin is not null
   ) holder
   where held_ms is not null or age > 100
   order by age desc, held_ms desc nulls last limit 1`,
);

export async function findHolder(db: Queryable): Promise<Holder | null> {
  const [holder] = await db.run(FIND_HOLDER);
  return holder ?? null;
}

export interface TableHealth {
  table: string;
  /** With all partitions, indexes and TOAST tables. */
  bytes: number;
  partitions: number;
  deadRows: number;
}

const TABLES = statement<TableHealth>(
  'table_health',
  `select coalesce(pg_partition_root(s.relid), s.relid)::regclass::name as table,
     sum(pg_total_relation_size(s.relid))::bigint as bytes,
     (count(*) filter (where pg_partition_root(s.relid) is not null))::int as partitions,
     sum(s.n_dead_tup)::bigint as "deadRows"
   from pg_stat_user_tables s
   where s.schemaname = 'longshore'
   group by 1 order by bytes desc`,
);

export async function tableHealth(db: Queryable): Promise<TableHealth[]> {
  const rows = await db.run(TABLES);
  return rows.map((row) => ({ ...row, table: row.table.replace(/^longshore\./, '') }));
}
