import { Client } from 'pg';
import { findRunningCluster } from '../../../src/postgres/embedded.ts';
import { jobInState, post, startJob } from '../api.ts';
import { until } from '../until.ts';

const EVENTS = 20;

/**
 * What an operator meets beside the six problems (`problems.ts`): a definition that became slow, a
 * webhook whose receiver is down, and a tenant at its limit. Nothing of it is simulated.
 */
export async function plantSurprises(
  address: string,
  { fast = 300, slow = 250, pages = 400 } = {},
) {
  // A port without a listener.
  const webhook = { url: 'http://127.0.0.1:4999/hooks/orders', events: ['job.failed'] };
  await accept(post(`${address}/v1/webhooks`, webhook));
  for (let job = 0; job < EVENTS; job += 1)
    await startJob(address, 'orders.import', { order: job });
  // Before slow jobs take all slots, which deliveries need, too.
  await until('all events wait for the receiver', async () => {
    const answer = await fetch(`${address}/v1/webhooks`);
    const { webhooks } = (await answer.json()) as { webhooks: WaitingEvents[] };
    return webhooks.some(
      (made) => made.url === webhook.url && made.waitingEvents?.count === EVENTS,
    );
  });

  await accept(post(`${address}/v1/tenants`, { tenant: 'acme' }));
  await limitTenant(address, 'acme', { concurrencyLimit: 1 });
  const jobs = Array.from({ length: pages }, () => ({
    definitionKey: 'site.crawl',
    params: { pages: 60 },
  }));
  await accept(post(`${address}/v1/jobs/batch?tenant=acme`, { jobs }));

  let last = '';
  for (let job = 0; job < fast; job += 1) {
    last = await startJob(address, 'tax.lookup', { seconds: 0.02 });
  }
  await jobInState(address, last, 'succeeded');
  for (let job = 0; job < slow; job += 1) await startJob(address, 'tax.lookup', { seconds: 25 });
}

/** Queued jobs are older by this: all of their times, so that no page contradicts another. */
export async function setBack(dataDir: string, minutes: number): Promise<void> {
  const client = new Client({ connectionString: await findRunningCluster(dataDir) });
  await client.connect();
  const back = (column: string) => `${column} = ${column} - interval '${minutes} minutes'`;
  for (const change of [
    `update longshore.job set ${back('created_at')} where id in
       (select id from longshore.waiting where state = 'queued')`,
    `update longshore.waiting set ${back('queued_at')} where state = 'queued'`,
  ]) {
    await client.query(change);
  }
  await client.end();
}

interface WaitingEvents {
  url: string;
  waitingEvents: { count: number } | null;
}

async function limitTenant(address: string, tenant: string, limits: unknown): Promise<void> {
  const response = await fetch(`${address}/v1/tenants/${tenant}/limits`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(limits),
  });
  if (!response.ok) throw new Error(`refused: ${await response.text()}`);
}

async function accept(answer: ReturnType<typeof post>): Promise<void> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`refused: ${JSON.stringify(body)}`);
}
