/** Writes sql/schema.sql from a database that all migrations have just been applied to. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../src/postgres/embedded.ts';
import { createLog } from '../src/runtime/log.ts';
import { migrate } from '../src/store/connection/migrate.ts';
import { dumpSchema } from '../test/support/checks/schema-dump.ts';

const log = createLog('error');
const dataDir = await mkdtemp(path.join(tmpdir(), 'longshore-schema-'));
const postgres = new EmbeddedPostgres({ dataDir, log, unsafeForTests: true });
try {
  await postgres.start();
  await migrate({ url: postgres.url, log, shards: 1 });
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await writeFile(new URL('../sql/schema.sql', import.meta.url), await dumpSchema(client));
  } finally {
    await client.end();
  }
  console.log('wrote sql/schema.sql');
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
