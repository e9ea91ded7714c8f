import { createLongshore } from 'longshore';
import { buildApp } from './app.ts';
import { openPool } from './database.ts';

/** A web application that does its slow work in the background, with Longshore inside it. */

const longshore = await createLongshore({
  databaseUrl: process.env['DATABASE_URL'],
  data: '.longshore/examples',
  jobs: new URL('./jobs', import.meta.url).pathname,
  // These jobs write into a folder of this application, so they keep its user, also when that is root.
  runnerUids: 'none',
});
const pool = await openPool(longshore.databaseUrl);
const app = buildApp(longshore, pool, process.env['OUTBOX'] ?? 'tmp/outbox.txt');
const address = await app.listen({ port: Number(process.env['PORT'] ?? 8080) });
console.log(`Sign up a user:
  curl -sS ${address}/sign-ups -H 'content-type: application/json' -d '{"email":"ada@example.com"}'
  curl -sS ${address}/sign-ups/ID`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // No new requests first; then running jobs may finish, or are given back.
    void app.close().then(async () => {
      await pool.end();
      await longshore.stop();
    });
  });
}
