import { Client } from 'pg';

/** "PostgreSQL 18.4", asked of the server itself. Also the first test that it can be reached. */
export async function describeServer(url: string): Promise<string> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>(
      `select current_setting('server_version') as version`,
    );
    return `PostgreSQL ${rows[0]?.version.split(' ')[0] ?? '?'}`;
  } finally {
    await client.end().catch(() => undefined);
  }
}
