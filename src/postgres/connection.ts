import { Client } from 'pg';

export const role = 'longshore';
export const database = 'longshore';

export interface Address {
  /** 127.0.0.1, or the folder of the Unix socket. */
  host: string;
  /** For a Unix socket, only a part of its name. */
  port: number;
  password: string;
}

export const LOOPBACK = '127.0.0.1';

/** The limit of a Unix socket path; macOS allows 103 bytes, Linux 107. */
const longestSocketPath = 103;

/**
 * The host that clients of the cluster in this folder connect to. The folder is closed to other
 * users, and so is a Unix socket in it: a job, which runs as another user, cannot use up the
 * connections of the server. On Windows, and where the path is too long for a socket, the server
 * listens on loopback.
 */
export function hostOf(folder: string): string {
  const fits = Buffer.byteLength(`${folder}/.s.PGSQL.99999`) <= longestSocketPath;
  return fits && process.platform !== 'win32' ? folder : LOOPBACK;
}

/**
 * The URL also has a host for programs that cannot use Unix sockets; all others use the one in the
 * query.
 */
export function urlOf({ host, port, password }: Address): string {
  const url = `postgres://${role}:${password}@${host === LOOPBACK ? host : 'localhost'}:${port}/${database}`;
  return host === LOOPBACK ? url : `${url}?host=${encodeURIComponent(host)}`;
}

/** One connection, ended by the caller. An error between queries never reaches the process. */
export async function connect(address: Address, toDatabase: string): Promise<Client> {
  const client = new Client({
    host: address.host,
    port: address.port,
    user: role,
    password: address.password,
    database: toDatabase,
    ssl: false,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    application_name: 'longshore supervisor',
  });
  // Without a listener, a lost connection would be an uncaught exception. Callers that must know of
  // it listen to `end`.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Opens a connection for `work` and always closes it. */
export async function withConnection<T>(
  address: Address,
  toDatabase: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connect(address, toDatabase);
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
