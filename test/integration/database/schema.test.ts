import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/runtime/log.ts';
import { migrate } from '../../../src/store/connection/migrate.ts';
import { emptyDatabase, onCluster, postgresVersions } from '../../support/servers/database.ts';
import { dumpSchema } from '../../support/checks/schema-dump.ts';

const committed = await readFile(new URL('../../../sql/schema.sql', import.meta.url), 'utf8');

describe.each(postgresVersions())('the committed schema on PostgreSQL %i', (postgres) => {
  const database = async () => {
    const { url, drop } = await emptyDatabase(postgres);
    onTestFinished(drop);
    return url;
  };

  it('is what the migrations make; after a change, run "npm run schema"', async () => {
    const url = await database();
    await migrate({ url, log: silentLog, shards: 1 });
    await onCluster(url, async (client) => {
      expect(await dumpSchema(client)).toBe(committed);
    });
  });

  it('is complete: loaded into an empty database, it prints itself again', async () => {
    await onCluster(await database(), async (client) => {
      await client.query(committed);
      expect(await dumpSchema(client)).toBe(committed);
    });
  });

  it('refuses to leave out what it cannot print', async () => {
    await onCluster(await database(), async (client) => {
      await client.query('create schema longshore; create view longshore.peek as select 1 as one');
      await expect(dumpSchema(client)).rejects.toThrow('peek, a relation of kind v');
    });
  });
});
