import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { buildServer } from '../../../src/http/server.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { Db, type DbOptions } from '../../../src/store/connection/db.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { testDatabase } from '../../support/servers/database.ts';
import { hasPgbouncer, startPgbouncer } from '../../support/servers/pgbouncer.ts';

/** An API whose connections are all taken says so, and works again as soon as one is free. */
async function expectBusyThenWell(
  apiOptions: (url: string) => Promise<Partial<DbOptions>>,
  holdOn: 'the same pool' | 'another pool',
): Promise<void> {
  const database = await testDatabase();
  const options = {
    url: database.url,
    log: silentLog,
    max: 1,
    clock: systemClock,
    ...(await apiOptions(database.url)),
  };
  const db = Db.open(options);
  const enqueuer = new Enqueuer(db, database.waker, systemClock);
  const app = buildServer({
    db,
    enqueuer,
    log: silentLog,
    host: '127.0.0.1',
    port: 0,
    version: '0',
  });
  const other = Db.open(options);
  onTestFinished(async () => {
    await app.close();
    for (const pool of [db, other]) await pool.close();
    await database.close();
  });
  const headers = { host: 'localhost' };
  const start = async () =>
    await app.inject({ method: 'POST', url: '/v1/jobs', payload: { definitionKey: 'a' }, headers });

  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holder = (holdOn === 'another pool' ? other : db).transaction(async (tx) => {
    await tx.run({ name: 'hold', text: 'select 1' });
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const refused = await start();
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
  expect(refused.json()).toMatchObject({ code: 'UNAVAILABLE' });
  release.resolve();
  await holder;
  expect((await start()).statusCode).toBe(202);
  expect(await database.sql('select id from longshore.job')).toHaveLength(1);
}

describe('an API whose connections are all taken answers 503 with Retry-After', () => {
  it('when they are its own', async () => {
    await expectBusyThenWell(async () => ({}), 'the same pool');
  });

  it.skipIf(!hasPgbouncer)("when they are the pooler's (needs pgbouncer)", async () => {
    const pgbouncer = await startPgbouncer(inject('clusterUrl'), 1, { query_wait_timeout: '1' });
    onTestFinished(async () => await pgbouncer.server.remove());
    await expectBusyThenWell(
      async (url) => ({ url: pgbouncer.through(url), pooler: 'transaction' }),
      'another pool',
    );
  });
});
