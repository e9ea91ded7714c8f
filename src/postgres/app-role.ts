import type { Client } from 'pg';
import { database, role } from './connection.ts';

/** The superuser of initdb. After the demotion it has no password and may not log in. */
const setupRole = 'longshore_setup';

/**
 * initdb creates one role, a superuser, which PostgreSQL never demotes. A superuser reads and
 * writes files and runs programs as the server's user, which no job server needs. So an ordinary
 * role takes over its name, password and objects, and logins of the superuser are disabled.
 * Clusters of earlier versions are changed in the same way.
 *
 * The ordinary role may do everything in its own databases, create databases and roles with fewer
 * rights, and monitor the server (pg_monitor).
 *
 * `grants` gives it more, in the same transaction.
 *
 * Returns whether anything was changed: then open sessions still have the old rights. The client
 * must be connected to the database of the jobs.
 */
export async function demote(client: Client, grants: readonly string[] = []): Promise<boolean> {
  const { rows } = await client.query<{ superuser: boolean }>(
    'select rolsuper as superuser from pg_roles where rolname = session_user',
  );
  if (rows[0]?.superuser !== true) return false;
  await client.query('begin');
  try {
    for (const step of [...STEPS, ...grants]) await client.query(step);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
  return true;
}

/** A role cannot rename itself while it is logged in, so a second one does it. */
const STEPS = [
  'create role longshore_demotion superuser',
  'set local session authorization longshore_demotion',
  `alter role ${role} rename to ${setupRole}`,
  `do $$ begin
     execute (select format('create role ${role} login createdb createrole password %L', rolpassword)
                from pg_authid where rolname = '${setupRole}');
   end $$`,
  `alter role ${setupRole} nologin password null`,
  `grant pg_monitor to ${role}`,
  `alter role ${role} set createrole_self_grant = 'set, inherit'`,
  `alter database ${database} owner to ${role}`,
  // Objects of PostgreSQL itself have an oid below 16384 and stay with the superuser.
  `do $$
   declare command text;
   begin
     for command in
       select format('alter schema %I owner to ${role}', nspname)
         from pg_namespace
        where oid >= 16384 and nspowner = '${setupRole}'::regrole and nspname !~ '^pg_'
       union all
       select format('alter %s %s owner to ${role}',
                     case relkind when 'S' then 'sequence' when 'v' then 'view'
                       when 'm' then 'materialized view' when 'c' then 'type' else 'table' end,
                     c.oid::regclass)
         from pg_class c
        where c.oid >= 16384 and relowner = '${setupRole}'::regrole and relkind in ('r','p','v','m','S','c')
          and relnamespace not in (select oid from pg_namespace where nspname ~ '^pg_')
          -- The sequence of a column goes with its table.
          and not exists (select from pg_depend d
                           where d.classid = 'pg_class'::regclass and d.objid = c.oid
                             and c.relkind = 'S' and d.deptype in ('a','i')
                             and d.refclassid = 'pg_class'::regclass)
       union all
       select format('alter routine %s owner to ${role}', oid::regprocedure)
         from pg_proc
        where oid >= 16384 and proowner = '${setupRole}'::regrole
       union all
       select format('alter type %s owner to ${role}', oid::regtype)
         from pg_type
        where oid >= 16384 and typowner = '${setupRole}'::regrole and typtype in ('e','d','r')
     loop
       execute command;
     end loop;
   end $$`,
  'reset session authorization',
  'drop role longshore_demotion',
];
