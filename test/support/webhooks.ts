import type { WebhookSpec, WebhookView } from '../../src/core/webhook/webhook.ts';
import { createWebhook } from '../../src/store/webhooks/webhooks.ts';
import { newSecret } from '../../src/webhooks/sign.ts';
import type { TestDatabase } from './servers/database.ts';

export const BY = { name: 'test', address: null };

/** A webhook, made as the API makes it; its secret is known to the test. */
export async function newWebhook(
  { db }: TestDatabase,
  spec: Partial<WebhookSpec>,
  tenant = 'default',
): Promise<WebhookView & { secret: string }> {
  const secret = newSecret();
  const whole: WebhookSpec = {
    url: 'https://example.com/hooks',
    format: 'cloudevents',
    description: null,
    events: ['job.finished'],
    definitionKeys: null,
    tags: null,
    ...spec,
  };
  return { ...(await createWebhook(db, BY, tenant, whole, secret)), secret };
}

export interface MadeDelivery {
  id: string;
  event: string;
  params: Record<string, unknown>;
}

/** The deliveries that were made for a webhook, the oldest first. */
export async function deliveriesOf(
  { sql }: TestDatabase,
  { id }: { id: string },
): Promise<MadeDelivery[]> {
  return await sql<MadeDelivery>(
    `select id, hook as event, params from longshore.job where parent_id = $1
     order by params ->> 'at', hook`,
    [id],
  );
}

/** What waits for its backoff need not wait for it in a test. */
export async function makeDue({ sql }: TestDatabase, deliveryId: string): Promise<void> {
  await sql(`update longshore.waiting set run_at = now() where id = $1`, [deliveryId]);
}
