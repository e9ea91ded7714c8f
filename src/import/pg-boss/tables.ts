/**
 * The tables of pg-boss 10 and newer. This is the only SQL on tables of another job system; the names
 * of its schema and tables are those of pg-boss, so a statement is a text for one schema.
 */
export function tablesOf(schema: string) {
  const job = `"${schema}".job`;
  const schedule = `"${schema}".schedule`;
  return {
    queues: `select name from "${schema}".queue where name not like '\\_\\_pgboss\\_\\_%' order by name`,
    running: `select name, count(*)::int as count, min(id::text) as example
      from ${job} where name = any($1) and state = 'active' group by name order by name`,
    /** In the order in which pg-boss would run them; a cursor, because there can be millions. */
    waiting: `declare waiting no scroll cursor for
      select name, id::text as id from ${job}
      where name = any($1) and state in ('created', 'retry') order by created_on, id`,
    read: `select *, id::text as id from ${job}
      where name = any($1) and id = any($2::uuid[]) and state in ('created', 'retry')`,
    /** Workers of pg-boss skip locked rows, so no worker runs these jobs until the end of the transaction. */
    lock: `select *, id::text as id from ${job}
      where name = any($1) and id = any($2::uuid[]) and state in ('created', 'retry')
      for update skip locked`,
    remove: `delete from ${job}
      where name = any($1) and id = any($2::uuid[]) and state in ('created', 'retry')
      returning id::text as id`,
    schedules: `select * from ${schedule} where name = any($1) order by name`,
    /** Before version 11 a queue has one schedule, and the table no column `key`. */
    removeSchedule: `delete from ${schedule} s
      where s.name = $1 and coalesce(to_jsonb(s) ->> 'key', '') = $2`,
  } as const;
}

export const NEXT_IDS = 'fetch 500 from waiting';
