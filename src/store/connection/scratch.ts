import { randomBytes } from 'node:crypto';
import { Client, DatabaseError } from 'pg';
import { withDatabase } from '../../core/values/database-url.ts';
import { sleep } from '../../runtime/deadline.ts';

/**
 * A database for one test, with a clock that can be set forward. Every statement of the store
 * calls `clock_timestamp()`. Here a schema that precedes PostgreSQL's on the search path has a
 * function of that name, which adds the offset of the test; the statements of the store are
 * unchanged. The database is dropped with the test.
 */
const CLOCK = `
  create schema longshore_clock;
  create table longshore_clock.shift (ms double precision not null);
  insert into longshore_clock.shift values (0);
  create function longshore_clock.clock_timestamp() returns timestamptz language sql volatile as
    'select pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => ms / 1000)
     from longshore_clock.shift';
`;

/** Functions with their own search path need this schema too. */
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
  /** Call it when the database has its tables and functions. */
  migrated(): Promise<void>;
  /** Sets the clock forward and returns the new time. */
  advance(ms: number): Promise<Date>;
  drop(): Promise<void>;
}

/** On the server of `serverUrl`, whose user may create databases. */
export async function createScratch(serverUrl: string): Promise<Scratch> {
  const name = `longshore_test_${randomBytes(6).toString('hex')}`;
  const url = withDatabase(serverUrl, name);
  await withClient(serverUrl, async (client) => {
    await client.query(`create database ${name}`);
    // By default PostgreSQL's functions come first.
    await client.query(
      `alter database ${name} set search_path = longshore_clock, pg_catalog, public`,
    );
  });
  await withClient(url, async (client) => await client.query(CLOCK));
  return {
    url,
    migrated: async () =>
      await withClient(url, async (client) => void (await client.query(LEND_CLOCK))),
    advance: async (ms) =>
      await withClient(url, async (client) => {
        await client.query('update longshore_clock.shift set ms = ms + $1', [ms]);
        const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
        if (!rows[0]) throw new Error('the database returned no time');
        return rows[0].now;
      }),
    drop: async () => {
      await withClient(serverUrl, async (client) => {
        await untilPermitted(async () => {
          await client.query(`drop database if exists ${name} with (force)`);
        });
      });
    },
  };
}

const NOT_PERMITTED = '42501';
const TRIES_MAX = 300;
const PAUSE_MS = 100;

/** Autovacuum may be at work there: its process is a superuser's, and we may not end it. */
async function untilPermitted(drop: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await drop();
    } catch (error) {
      const isBusy = error instanceof DatabaseError && error.code === NOT_PERMITTED;
      if (!isBusy || tries === TRIES_MAX) throw error;
      await sleep(PAUSE_MS);
    }
  }
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
