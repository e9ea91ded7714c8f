import { createHash } from 'node:crypto';
import { totalmem } from 'node:os';
import type { Client } from 'pg';
import { LOOPBACK, type Address } from './connection.ts';
import { EmbeddedPostgresError } from './error.ts';

/** Records the pid of the supervisor of a postmaster; `takeover.ts` reads it. */
export const supervisorSetting = 'longshore.supervisor_pid';

/**
 * Written into `postgresql.conf` when the cluster is created; afterwards the operator may tune the
 * file. Queue tables change quickly, so autovacuum runs more often than once a minute; each look
 * starts a process for each database, which is most of what an idle server costs.
 */
export function initialSettings(): Record<string, string> {
  const megabyte = 1024 * 1024;
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const buffers = Math.max(16, Math.min(256, Math.floor(memory / 4 / megabyte)));
  return {
    shared_buffers: `${buffers}MB`,
    max_connections: '100',
    autovacuum_naptime: '20s',
  };
}

/** Part of the title of every server process, for people and for `lingering.ts`. */
export function clusterName(folder: string): string {
  return `longshore-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
}

/** Settings that Longshore relies on, on the command line, which overrides the file. */
export function commandLineSettings(
  folder: string,
  { host, port }: Pick<Address, 'host' | 'port'>,
  unsafeForTests: boolean,
): Record<string, string> {
  return {
    listen_addresses: host === LOOPBACK ? host : '',
    port: `${port}`,
    // Its own data folder, as `.`: it may not be able to enter the parents.
    unix_socket_directories: host === LOOPBACK ? '' : '.',
    unix_socket_permissions: '0700',
    cluster_name: clusterName(folder),
    timezone: 'UTC',
    // The format that `server-log.ts` parses.
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '',
    lc_messages: 'C',
    [supervisorSetting]: `${process.pid}`,
    ...(unsafeForTests ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
}

/**
 * A stored job is never lost only while PostgreSQL waits for the disk. Reads the effective settings
 * in the database of the jobs, because a setting can come from many places.
 */
export async function refuseUnlessDurable(client: Client, folder: string): Promise<void> {
  const names = ['fsync', 'synchronous_commit', 'full_page_writes'];
  const { rows } = await client.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [names],
  );
  const wrong = names.filter((name) => rows.find((row) => row.name === name)?.setting !== 'on');
  if (wrong.length === 0) return;
  throw new EmbeddedPostgresError(
    `The PostgreSQL in ${folder} runs without ${wrong.join(', ')}, so a crash could lose jobs: ` +
      'remove that from postgresql.conf, postgresql.auto.conf and ALTER DATABASE or ROLE … SET.',
  );
}
