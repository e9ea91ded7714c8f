import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { Longshore } from '../../../src/client/longshore.ts';
import { findRunningCluster } from '../../../src/postgres/embedded.ts';
import { findFreePort, homePort } from '../../../src/postgres/free-port.ts';
import { launch } from '../processes.ts';
import { startReceiver, type Receiver } from '../servers/receiver.ts';
import { until } from '../until.ts';

const EXAMPLES = fileURLToPath(new URL('../../../examples/jobs', import.meta.url));

/** A real server for Prometheus. */
export interface Troubled {
  client: Longshore;
  /** What scrapes it needs this one. */
  key: string;
  /** Where Prometheus finds it, by the names of the scrape jobs in deploy/. */
  targets: Record<string, string>;
  /** Gives every panel of the dashboard something to show. */
  makeTrouble(): Promise<void>;
  end(): Promise<void>;
}

/** Two slots, a lease of two seconds, and a job of each kind, so that each has its series. */
export async function startTroubled(folder: string): Promise<Troubled> {
  const dataDir = join(folder, 'data');
  const metricsPort = await findFreePort(homePort(folder));
  const env = {
    LONGSHORE_DATA: dataDir,
    LONGSHORE_JOBS: EXAMPLES,
    LONGSHORE_CONCURRENCY: '2',
    LONGSHORE_LEASE_MS: '2000',
    LONGSHORE_DRAIN_MS: '500',
    LONGSHORE_METRICS_PORT: String(metricsPort),
    LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
  };
  const { address } = (await launch('start', { env })).summary;
  const open = new Longshore({ url: address });
  const { key } = await open.keys.create({ name: 'prometheus', scopes: ['admin'] });
  const client = new Longshore({ url: address, apiKey: key });
  for (const definition of ['hello', 'flaky', 'crashing']) {
    await (await client.enqueue(definition, { failures: 0 }, { hold: true })).cancel();
  }
  await (await client.enqueue('slow', { seconds: 0 })).wait();
  const receiver = await startReceiver();
  const holder = new Client({ connectionString: await findRunningCluster(dataDir) });
  await holder.connect();
  return {
    client,
    key,
    targets: {
      longshore: new URL(address).host,
      'longshore-processes': `127.0.0.1:${metricsPort}`,
    },
    makeTrouble: async () => await makeTrouble(client, receiver, holder),
    end: async () => {
      await holder.end();
      await receiver.close();
    },
  };
}

/**
 * Everything happens once, and only after the first scrape: a series must show it without
 * repetition.
 */
async function makeTrouble(client: Longshore, receiver: Receiver, holder: Client): Promise<void> {
  // A forgotten transaction holds back vacuum.
  await holder.query('begin isolation level repeatable read');
  await holder.query('select pg_current_xact_id()');
  // One delivery arrives, the other one is not answered.
  receiver.answerWith((response, { path }) => {
    if (!path.endsWith('/silent')) response.writeHead(204).end();
  });
  const events = ['job.finished'] as const;
  await client.webhooks.create({ url: receiver.url, events });
  await client.webhooks.create({ url: `${receiver.url}/silent`, events });
  const lost = await client.enqueue('slow', { seconds: 3 });
  await until('it runs', async () => (await client.get(lost.id)).status === 'running');
  const [worker] = (await client.workers()).filter(({ status }) => status === 'active');
  if (!worker) throw new Error('there is no worker to lose');
  process.kill(worker.pid, 'SIGKILL');
  await until(
    'its worker is known to be lost',
    async () => (await client.get(lost.id)).attempts === 2,
  );
  await client.enqueueMany(Array.from({ length: 40 }, () => ({ definition: 'hello' })));
  for (const [key, params] of [
    ['flaky', { failures: 4 }],
    ['crashing', {}],
    ['slow', { seconds: 20 }],
    ['slow', { seconds: 20 }],
    ['slow', { seconds: 20 }],
  ] as const) {
    await client.enqueue(key, params);
  }
}
