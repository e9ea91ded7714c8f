import { Client } from 'pg';

export const role = 'longshore';
export const database = 'longshore';

export interface Address {
  port: number;
  password: string;
}

export function urlOf(address: Address): string {
  return `postgres://${role}:${address.password}@127.0.0.1:${address.port}/${database}`;
}

/** One connection. The caller ends it; an error between queries never reaches the process. */
export async function connect(address: Address, toDatabase: string): Promise<Client> {
  const client = new Client({
    host: '127.0.0.1',
    port: address.port,
    user: role,
    password: address.password,
    database: toDatabase,
    ssl: false,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    application_name: 'longshore supervisor',
  });
  // Without a listener, a lost connection would be an uncaught exception. Whoever needs to know of
  // it listens to `end` as well.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

/** Opens a connection for `work` and ends it whatever happens. */
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
