import type { ClientBase } from 'pg';

/**
 * The schema `longshore` as text, read from the catalog of a migrated database. It is committed as
 * `sql/schema.sql`: a picture of what all migrations add up to, for people to read and for a test
 * to compare. pg_dump would print the same in another way with each version; this prints one text
 * on all of them. Dated partitions are left out, because every day has others. What this does not
 * know how to print it refuses, so that nothing can be missing from the picture unnoticed.
 */
export async function dumpSchema(client: ClientBase): Promise<string> {
  await client.query('set search_path = longshore');
  const parts = [HEAD];
  for (const query of [UNKNOWN, ENUMS, TABLES, FUNCTIONS, TRIGGERS]) {
    const { rows } = await client.query<{ text: string }>(query);
    if (query === UNKNOWN && rows[0]) throw new Error(`cannot print ${rows[0].text}`);
    parts.push(...rows.map((row) => row.text));
  }
  return `${parts.join('\n\n')}\n`;
}

const HEAD = `-- What all migrations add up to. Made by "npm run schema"; do not edit.
-- The dated partitions are left out.

create schema longshore;
set search_path = longshore;
-- Functions are printed by name, so one may call another that comes later.
set check_function_bodies = off;`;

const OURS = `'longshore'::regnamespace`;

const UNKNOWN = `
  select format('%s, a relation of kind %s', oid::regclass, relkind) as text
  from pg_class where relnamespace = ${OURS} and relkind not in ('r', 'p', 'i', 'I', 't')
  union all
  select format('the policy %s of %s', polname, polrelid::regclass)
  from pg_policy join pg_class c on c.oid = polrelid where c.relnamespace = ${OURS}
  union all
  select format('the type %s', oid::regtype) from pg_type t
  where typnamespace = ${OURS} and typtype not in ('e', 'c') and typelem = 0
  union all
  select format('the virtual or identity column %s of %s', attname, attrelid::regclass)
  from pg_attribute join pg_class c on c.oid = attrelid
  where c.relnamespace = ${OURS} and (attidentity <> '' or attgenerated = 'v')`;

const ENUMS = `
  select format(E'create type %s as enum (\\n%s\\n);', t.oid::regtype,
    string_agg(format('  %L', e.enumlabel), E',\\n' order by e.enumsortorder)) as text
  from pg_type t join pg_enum e on e.enumtypid = t.oid
  where t.typnamespace = ${OURS}
  group by t.oid, t.typname order by t.typname collate "C"`;

/** Since PostgreSQL 18 "not null" is a constraint too; here it stands with its column as before. */
const TABLES = `
  select format(E'create table %s (\\n  %s\\n)%s%s;%s%s', c.oid::regclass,
    concat_ws(E',\\n  ', columns.text, constraints.text),
    E'\\npartition by ' || pg_get_partkeydef(c.oid),
    E'\\nwith (\\n  ' || options.text || E'\\n)',
    storage.text, indexes.text) as text
  from pg_class c
  cross join lateral (
    select string_agg(concat_ws(' ', quote_ident(a.attname),
        format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end,
        case a.attgenerated when 's'
          then format('generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
          else 'default ' || pg_get_expr(d.adbin, d.adrelid) end), E',\\n  ' order by a.attnum) as text
    from pg_attribute a
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  ) columns
  cross join lateral (
    select string_agg(format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid, true)),
      E',\\n  ' order by k.contype desc, k.conname collate "C") as text
    from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n'
  ) constraints
  cross join lateral (
    select string_agg(replace(o, '=', ' = '), E',\\n  ' order by o collate "C") as text
    from unnest(c.reloptions) as o
  ) options
  cross join lateral (
    select string_agg(format(E'\\nalter table %s alter column %I set storage %s;', c.oid::regclass,
      a.attname, case a.attstorage when 'e' then 'external' when 'm' then 'main'
        when 'x' then 'extended' else 'plain' end), '' order by a.attnum) as text
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    where a.attrelid = c.oid and a.attnum > 0 and a.attstorage <> t.typstorage
  ) storage
  cross join lateral (
    select string_agg(E'\\n' || replace(pg_get_indexdef(i.indexrelid, 0, true), ' ON ONLY ', ' ON ')
      || ';', '' order by i.indexrelid::regclass::text collate "C") as text
    from pg_index i where i.indrelid = c.oid
      and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
  ) indexes
  where c.relnamespace = ${OURS} and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname collate "C"`;

const FUNCTIONS = `
  select rtrim(pg_get_functiondef(oid), E'\\n') || ';' as text
  from pg_proc where pronamespace = ${OURS} order by oid::regprocedure::text collate "C"`;

const TRIGGERS = `
  select pg_get_triggerdef(t.oid, true) || ';' as text
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = ${OURS} and not t.tgisinternal order by t.tgname collate "C"`;
