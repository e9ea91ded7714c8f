import { EXTRAS, isInstalled } from '../checks/extras.ts';
import { SideServer } from './side-server.ts';

export const hasPgbouncer = isInstalled('pgbouncer');

export interface Pgbouncer {
  server: SideServer;
  /** The same database, seen through the pooler. */
  through(databaseUrl: string): string;
}

/**
 * Debian's PgBouncer in transaction mode before the cluster of a URL, with its strict defaults: it
 * refuses session settings at the start of a connection and knows no prepared statements.
 */
export async function startPgbouncer(
  clusterUrl: string,
  poolSize: number,
  more: Record<string, string> = {},
): Promise<Pgbouncer> {
  const { hostname, port: clusterPort, username, password } = new URL(clusterUrl);
  const server = await SideServer.create(EXTRAS.pgbouncer, (folder, port) => {
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: `${folder}/users`,
      pool_mode: 'transaction',
      default_pool_size: String(poolSize),
      max_client_conn: '200',
      ...more,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const target = `* = host=${hostname} port=${clusterPort}`;
    const files = {
      'pgbouncer.ini': ['[databases]', target, '[pgbouncer]', ...lines, ''].join('\n'),
      users: `"${username}" "${password}"\n`,
    };
    return { args: ['-q', `${folder}/pgbouncer.ini`], files };
  });
  await server.start();
  return {
    server,
    through: (databaseUrl) => {
      const url = new URL(databaseUrl);
      url.port = String(server.port);
      return url.href;
    },
  };
}
