import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Longshore } from 'longshore/client';
import { consumer } from './consumer.ts';
import { pay } from './jobs/pay.ts';
import { startServer } from './server.ts';

/** A server with a webhook, and the consumer that receives its events. */

const server = await startServer();
const longshore = new Longshore({ url: server.url });
let secret = '';
const received: string[] = [];
const both = Promise.withResolvers<void>();
const listener = consumer(
  () => secret,
  ({ data }) => {
    const { customer } = data.params as { customer: string };
    received.push(`${customer}: ${data.status}${data.error ? `, ${data.error.message}` : ''}`);
    if (received.length === 2) both.resolve();
  },
);
listener.listen(0, '127.0.0.1');
await once(listener, 'listening');
const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;

const webhook = await longshore.webhooks.create({ url, events: ['job.finished'] });
secret = webhook.secret;
await longshore.enqueueMany([
  { definition: pay, params: { customer: 'Ada', cents: 500 } },
  { definition: pay, params: { customer: 'Bob', cents: 0 } },
]);
await both.promise;
const forged = await fetch(url, { method: 'POST', body: '{"type":"dev.longshore.job.succeeded"}' });
console.log(received.sort().join('\n'));
console.log(`a forged event is answered ${forged.status}`);

await longshore.webhooks.delete(webhook.id);
listener.closeAllConnections();
listener.close();
await server.stop();
