/**
 * Starts a Citus cluster (a coordinator and two nodes) with the distributed tables of Longshore, for
 * development, until Ctrl-C: `npx node scripts/citus-cluster.ts 4` for four shards. It prints the URLs;
 * DATABASE_URL is that of the coordinator. Not all of Longshore works on Citus yet.
 */
import { Client } from 'pg';
import { silentLog } from '../src/runtime/log.ts';
import { migrate } from '../src/store/connection/migrate.ts';
import { joinNodes, startCitus } from '../test/support/servers/citus/cluster.ts';

const cluster = await startCitus();
if (!cluster) {
  console.error('PostgreSQL 15 with Citus is not installed here');
  process.exit(1);
}
const urls = cluster.nodes.map(({ url }) => url.replace(/postgres$/, 'longshore'));
for (const { url } of cluster.nodes) {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('create database longshore');
  await client.end();
}
await joinNodes(urls);
const shards = Number(process.argv[2] ?? 1);
await migrate({ url: urls[0] ?? '', log: silentLog, shards, backend: 'citus' });
console.log(
  urls.map((url, n) => `${n === 0 ? 'coordinator' : `node ${n}     `} ${url}`).join('\n'),
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cluster.stop().then(() => process.exit(0)));
}
setInterval(() => undefined, 60_000);
