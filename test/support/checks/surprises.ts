import { post, startJob } from '../api.ts';

/**
 * What an operator meets beside the six problems (`problems.ts`): a definition that became slow, a
 * webhook whose receiver is down, and a tenant at its limit. Nothing of it is simulated.
 */
export async function plantSurprises(address: string): Promise<void> {
  for (let job = 0; job < 300; job += 1) await startJob(address, 'tax.lookup', { seconds: 0.02 });
  for (let job = 0; job < 250; job += 1) await startJob(address, 'tax.lookup', { seconds: 25 });

  // A port without a listener.
  const webhook = { url: 'http://127.0.0.1:4999/hooks/orders', events: ['job.failed'] };
  await accept(post(`${address}/v1/webhooks`, webhook));
  for (let job = 0; job < 20; job += 1) await startJob(address, 'orders.import', { order: job });

  await accept(post(`${address}/v1/tenants`, { tenant: 'acme' }));
  const pages = Array.from({ length: 400 }, () => ({
    definitionKey: 'site.crawl',
    params: { pages: 60 },
  }));
  await accept(post(`${address}/v1/jobs/batch?tenant=acme`, { jobs: pages }));
  await limitTenant(address, 'acme', { concurrencyLimit: 1 });
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
