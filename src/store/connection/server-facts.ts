import { type Queryable, statement } from './db.ts';

/** Rights and settings of the server, beyond `server-version.ts`. */
export interface ServerFacts {
  readOnly: boolean;
  schemaExists: boolean;
  /** In the schema, or the schema itself if it does not exist. */
  mayCreate: boolean;
  /** A role that owns our tables and of which we are no member. */
  foreignOwner: string | null;
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
}

const FACTS = statement<ServerFacts>(
  'server_facts',
  `select current_setting('transaction_read_only') = 'on' as "readOnly",
     n.oid is not null as "schemaExists",
     case when n.oid is null then has_database_privilege(current_database(), 'create')
       else has_schema_privilege(n.oid, 'create') and has_schema_privilege(n.oid, 'usage')
     end as "mayCreate",
     (select pg_get_userbyid(c.relowner)::text from pg_class c
      where c.relnamespace = n.oid and c.relkind in ('r', 'p')
        and not pg_has_role(c.relowner, 'usage') limit 1) as "foreignOwner",
     current_setting('fsync') as fsync,
     current_setting('full_page_writes') as "fullPageWrites",
     current_setting('synchronous_commit') as "synchronousCommit"
   from (select) one left join pg_namespace n on n.nspname = 'longshore'`,
);

export async function serverFacts(db: Queryable): Promise<ServerFacts> {
  const [facts] = await db.run(FACTS);
  if (!facts) throw new Error('the database gave no answer');
  return facts;
}

const CLOCK = statement<{ nowMs: number }>(
  'server_clock',
  'select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"',
);

/** The database's clock, in milliseconds since 1970. */
export async function serverClock(db: Queryable): Promise<number> {
  const [clock] = await db.run(CLOCK);
  if (!clock) throw new Error('the database gave no answer');
  return clock.nowMs;
}
