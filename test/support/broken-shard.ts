import { Client } from 'pg';
import type { TestDatabase } from './servers/database.ts';

/**
 * Makes one shard of a database fail, or hang, for real: every row that is written to it goes through
 * a trigger that raises what a full disk raises, or waits for a lock that the test holds.
 */
export interface BreakableShard {
  breakIt(how: 'fail' | 'hang'): Promise<void>;
  mend(): Promise<void>;
}

const LOCK = 4_711;

export async function breakableShard(
  { url, sql }: TestDatabase,
  shard: number,
): Promise<BreakableShard> {
  await sql(`create table public.broken (shard int, how text)`);
  await sql(`create function public.obstruct() returns trigger language plpgsql as $$
    declare how text;
    begin
      select b.how into how from public.broken b
      where b.shard = case when tg_op = 'DELETE' then old.shard else new.shard end;
      if how = 'fail' then
        raise exception 'this shard is broken' using errcode = '53100';
      elsif how = 'hang' then
        perform pg_advisory_xact_lock_shared(${LOCK});
      end if;
      return case when tg_op = 'DELETE' then old else new end;
    end $$`);
  await sql(`do $$
    declare t regclass;
    begin
      for t in select c.oid from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'shard' and not a.attisdropped
        where c.relnamespace = 'longshore'::regnamespace and c.relkind in ('r', 'p')
          and not c.relispartition
      loop
        execute format('create trigger a_obstruct before insert or update or delete on %s
          for each row execute function public.obstruct()', t);
      end loop;
    end $$`);
  let holder: Client | undefined;
  return {
    breakIt: async (how) => {
      if (how === 'hang') {
        holder = new Client({ connectionString: url });
        await holder.connect();
        await holder.query('select pg_advisory_lock($1)', [LOCK]);
      }
      await sql('insert into public.broken values ($1, $2)', [shard, how]);
    },
    mend: async () => {
      await sql('delete from public.broken');
      await holder?.end();
      holder = undefined;
    },
  };
}
