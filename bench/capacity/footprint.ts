import type pg from 'pg';

/** What jobs wrote so far: commits, WAL, and bytes on disk of the tables that keep the history. */
export interface Footprint {
  commits: number;
  walBytes: number;
  storedBytes: number;
  /** The tables of waiting and running jobs. Vacuum makes their pages usable again. */
  liveBytes: number;
}

/**
 * WAL is counted for the whole server, so nothing else may use it.
 */
export async function footprint(client: pg.Client): Promise<Footprint> {
  const { rows } = await client.query<Record<'commits' | 'wal' | 'stored' | 'live', string>>(
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
       pg_total_relation_size('longshore.waiting') + pg_total_relation_size('longshore.running')
         as live,
       (select sum(pg_total_relation_size(c.oid)) from pg_class c
        where c.relnamespace = 'longshore'::regnamespace and c.relkind = 'r'
          and c.relname ~ '^(job|done|attempt|event|edge|log_chunk|step|stream_chunk|dedupe)(_|$)') as stored`,
  );
  const [row] = rows;
  return {
    commits: Number(row?.commits),
    walBytes: Number(row?.wal),
    storedBytes: Number(row?.stored),
    liveBytes: Number(row?.live),
  };
}

export function difference(from: Footprint, to: Footprint, jobs: number): Footprint {
  return {
    commits: (to.commits - from.commits) / jobs,
    walBytes: (to.walBytes - from.walBytes) / jobs,
    storedBytes: (to.storedBytes - from.storedBytes) / jobs,
    liveBytes: (to.liveBytes - from.liveBytes) / jobs,
  };
}
