import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/**
 * A database for one test, with a clock that can be set forward. Every statement of the store asks
 * `clock_timestamp()` for the time. Here a schema that comes before PostgreSQL's own on the search
 * path has a function of that name, which adds what the test has asked for; so the store runs as it
 * is, word for word, at another time. Nothing outside this database notices, and it goes when the
 * test does.
 */
const CLOCK = `
  create schema longshore_clock;
  create table longshore_clock.shift (ms double precision not null);
  insert into longshore_clock.shift values (0);
  create function longshore_clock.clock_timestamp() returns timestamptz language sql volatile as
    'select pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => ms / 1000)
     from longshore_clock.shift';
`;

/** Functions that bring a search path of their own, so that nobody can lend them another, need it too. */
const LEND_CLOCK = `
  do $$
  declare
    one regprocedure;
  begin
    for one in
      select p.oid from pg_proc p where p.pronamespace = 'longshore'::regnamespace
        and array_to_string(p.proconfig, ' ') like '%search_path=%'
    loop
      execute format('alter function %s set search_path = longshore_clock, pg_catalog, pg_temp', one);
    end loop;
  end $$`;

export interface Scratch {
  url: string;
  /** To be called once the database has its tables and functions. */
  migrated(): Promise<void>;
  /** Sets the clock forward, and answers with the time that it shows then. */
  advance(ms: number): Promise<Date>;
  drop(): Promise<void>;
}

/** On the server of `serverUrl`, whose user must be allowed to create databases. */
export async function createScratch(serverUrl: string): Promise<Scratch> {
  const name = `longshore_test_${randomBytes(6).toString('hex')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await withClient(serverUrl, async (client) => {
    await client.query(`create database ${name}`);
    // The default finds PostgreSQL's functions first, wherever they are named.
    await client.query(
      `alter database ${name} set search_path = longshore_clock, pg_catalog, public`,
    );
  });
  await withClient(url.href, async (client) => await client.query(CLOCK));
  return {
    url: url.href,
    migrated: async () =>
      await withClient(url.href, async (client) => void (await client.query(LEND_CLOCK))),
    advance: async (ms) =>
      await withClient(url.href, async (client) => {
        await client.query('update longshore_clock.shift set ms = ms + $1', [ms]);
        const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
        if (!rows[0]) throw new Error('the database has no time');
        return rows[0].now;
      }),
    drop: async () => {
      await withClient(serverUrl, async (client) => {
        await client.query(`drop database if exists ${name} with (force)`);
      });
    },
  };
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'longshore test rig' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
