import { Client } from 'pg';
import type { TestDatabase } from './servers/database.ts';

/**
 * Makes one shard of a database fail, or hang, for real: every row of it that the product reads or
 * writes goes through a policy that raises what a full disk raises, or waits for a lock that the test
 * holds. The test itself, whose connections have another name, still sees all rows.
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
  await sql(`create function public.reach(of_shard int) returns boolean language plpgsql as $$
    declare how text;
    begin
      if current_setting('application_name') not like 'longshore%' then return true; end if;
      select b.how into how from public.broken b where b.shard = of_shard;
      if how = 'fail' then
        raise exception 'this shard is broken' using errcode = '53100';
      elsif how = 'hang' then
        perform pg_advisory_xact_lock_shared(${LOCK});
      end if;
      return true;
    end $$`);
  await sql(`do $$
    declare t regclass;
    begin
      for t in select c.oid from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attname = 'shard' and not a.attisdropped
        where c.relnamespace = 'longshore'::regnamespace and c.relkind in ('r', 'p')
          and not c.relispartition
      loop
        execute format('alter table %s enable row level security', t);
        execute format('alter table %s force row level security', t);
        execute format('create policy reach on %s using (public.reach(shard))', t);
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
