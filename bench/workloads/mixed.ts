import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench } from '../harness/bench.ts';
import { drain, type Drained, fill } from './drain.ts';
import { measurePair, PAIR_METRICS } from './pair.ts';
import type { Workload } from './workload.ts';

export const mixed: Workload = {
  name: 'mixed',
  what:
    'One worker drains 60,000 jobs of six queues; 1 % are in a queue with a concurrency limit and ' +
    '1 % in one with a webhook. And the same without limit and webhook.',
  systems: ['longshore'],
  metrics: [...PAIR_METRICS, { key: 'deliveries', unit: 'until the end', better: 'more' }],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 25, quick: 10 },
  async measure(bench, system, round) {
    await using receiver = await startReceiver();
    const figures = await measurePair(
      round,
      async () => await drainSix(bench, system, null),
      async () => await drainSix(bench, system, receiver.port),
    );
    return { ...figures, deliveries: receiver.received() };
  },
};

/** Ends with the last handler: deliveries of the webhook are jobs, too, and may follow. */
async function drainSix(
  bench: Bench,
  system: string,
  webhookPort: number | null,
): Promise<Drained> {
  const jobs = bench.jobs(60_000, 20_000);
  const queues = webhookPort === null ? 'six' : 'mixed';
  await using database = await bench.database(system);
  if (webhookPort !== null) await subscribe(bench, system, database.url, webhookPort);
  await fill(bench, system, database.url, jobs, { queues });
  return await drain(bench, system, database, { jobs, queues, end: 'handlers' });
}

async function subscribe(bench: Bench, system: string, url: string, port: number): Promise<void> {
  const flags = ['--webhook-allow', '127.0.0.0/8'];
  await using server = await bench.server(system, 'api', url, flags);
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      url: `http://127.0.0.1:${port}/`,
      events: ['job.succeeded'],
      definitionKeys: ['watched'],
    }),
  });
  if (!response.ok) throw new Error(`no webhook: ${await response.text()}`);
}

interface Receiver extends AsyncDisposable {
  port: number;
  received(): number;
}

/** Answers every delivery with 204. */
async function startReceiver(): Promise<Receiver> {
  let received = 0;
  const server = createServer((request, response) => {
    received += 1;
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received: () => received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
