import { createHash } from 'node:crypto';
import { totalmem } from 'node:os';
import type { Client } from 'pg';
import { LOOPBACK, type Address } from './connection.ts';
import { EmbeddedPostgresError } from './error.ts';

/** Names the process that supervises a postmaster; `takeover.ts` reads it back. */
export const supervisorSetting = 'longshore.supervisor_pid';

/**
 * Written into `postgresql.conf` when the cluster is made; from then on the file is its owner's to
 * tune. Queue tables turn over quickly, so the vacuum looks at them more often than once a minute.
 */
export function initialSettings(): Record<string, string> {
  const megabyte = 1024 * 1024;
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const buffers = Math.max(16, Math.min(256, Math.floor(memory / 4 / megabyte)));
  return {
    shared_buffers: `${buffers}MB`,
    max_connections: '100',
    autovacuum_naptime: '10s',
  };
}

/** Stands in the title of every server process, so that people and `lingering.ts` know them. */
export function clusterName(folder: string): string {
  return `longshore-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
}

/** Given on the command line, where they win over the file: what Longshore itself relies on. */
export function commandLineSettings(
  folder: string,
  { host, port }: Pick<Address, 'host' | 'port'>,
  unsafeForTests: boolean,
): Record<string, string> {
  return {
    listen_addresses: host === LOOPBACK ? host : '',
    port: `${port}`,
    // Its own data folder, which it calls `.`: it may not be able to enter the folders above.
    unix_socket_directories: host === LOOPBACK ? '' : '.',
    unix_socket_permissions: '0700',
    cluster_name: clusterName(folder),
    timezone: 'UTC',
    // `server-log.ts` reads these lines.
    log_destination: 'stderr',
    logging_collector: 'off',
    log_line_prefix: '',
    lc_messages: 'C',
    [supervisorSetting]: `${process.pid}`,
    ...(unsafeForTests ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
}

/**
 * An acknowledged job is never lost: that holds only while PostgreSQL waits for the disk. The
 * server is asked, in the database that jobs live in, because a setting can come from many places.
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
