import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { DatabaseUnavailable, Db, statement } from '../../../src/store/connection/db.ts';
import { testDatabase } from '../../support/servers/database.ts';

const ONE = statement<{ one: number }>('test_one', 'select 1 as one');
/** The last message of a successful login. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const NAME = 'breaks at once';

/**
 * A way to the database on which its first "come in" and its "I am going down" arrive as one piece, as
 * they do on a busy machine: the client gets both before any other event.
 */
async function linkThatBreaksAtOnce(target: URL, endSession: () => Promise<void>): Promise<URL> {
  let broken = false;
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream);
    let held: Buffer | null = null;
    upstream.on('data', (piece) => {
      if (held) return void client.write(Buffer.concat([held, piece]));
      if (broken || !piece.subarray(-READY.length).equals(READY)) return void client.write(piece);
      broken = true;
      held = piece;
      void endSession();
    });
    upstream.on('close', () => client.end());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return url;
}

it('a connection that breaks while it is handed out fails its transaction, and nothing else', async () => {
  const database = await testDatabase();
  const url = await linkThatBreaksAtOnce(new URL(database.url), async () => {
    await database.sql(
      'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
      [NAME],
    );
  });
  const db = Db.open({
    clock: systemClock,
    url: url.href,
    log: silentLog,
    applicationName: NAME,
    max: 1,
  });
  onTestFinished(async () => {
    await db.close();
    await database.close();
  });
  const work = async () => await db.transaction(async (tx) => await tx.run(ONE));

  await expect(work()).rejects.toThrow(DatabaseUnavailable);
  expect(await work()).toEqual([{ one: 1 }]);
});
