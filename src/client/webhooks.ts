import { isJobId } from '../core/job/job-id.ts';
import type { DeliveryView, WebhookEvent, WebhookView } from '../core/webhook/webhook.ts';
import { NotFound } from './http/problems.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

/** A webhook, and a delivery of one, as the server shows them. */
export type WebhookInfo = WebhookView;
export type Delivery = DeliveryView;

export interface WebhookOptions {
  /** Where events are sent to. */
  url: string;
  events: readonly WebhookEvent[];
  /** A word for people. */
  description?: string | null | undefined;
  /** Only of jobs of these definitions; null is all. */
  definitionKeys?: readonly string[] | null | undefined;
  /** Only of jobs with one of these tags; null is all. */
  tags?: readonly string[] | null | undefined;
}

/** The only time that the secret is seen. */
export interface NewWebhook {
  id: string;
  secret: string;
}

export interface DeliveryPage {
  deliveries: Delivery[];
  nextCursor: string | null;
}

/** What can be done with webhooks: `client.webhooks`. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not sent again after a broken connection: there would be two, and one secret lost. */
  async create(options: WebhookOptions): Promise<NewWebhook> {
    const call = { method: 'POST', path: '/v1/webhooks', repeatable: false } as const;
    return await this.#transport.call({ ...call, body: options });
  }

  async list(): Promise<WebhookInfo[]> {
    return (await this.#get<{ webhooks: WebhookInfo[] }>('/v1/webhooks')).webhooks;
  }

  async get(id: string): Promise<WebhookInfo> {
    return await this.#get(pathOf(id));
  }

  /** What is not named stays as it is. */
  async update(
    id: string,
    changes: Partial<WebhookOptions> & { status?: 'active' | 'paused' },
  ): Promise<WebhookInfo> {
    const path = pathOf(id);
    return await this.#transport.call({ method: 'PATCH', path, body: changes, repeatable: true });
  }

  async delete(id: string): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: pathOf(id), repeatable: false });
  }

  /** Both secrets sign for the overlap; a day is usual. */
  async rotate(
    id: string,
    options: { overlapSeconds?: number } = {},
  ): Promise<NewWebhook & { previousSecretUntil: string }> {
    return await this.#post(`${pathOf(id)}/rotate`, options);
  }

  /** Sends an event without content. */
  async test(id: string): Promise<{ deliveryId: string }> {
    return await this.#post(`${pathOf(id)}/test`);
  }

  /** What was sent, or is to be, the newest first: one page. */
  async deliveries(
    id: string,
    page: { cursor?: string; limit?: number } = {},
  ): Promise<DeliveryPage> {
    return await this.#get(`${pathOf(id)}/deliveries`, queryOf(page));
  }

  /** Sends the same event once more, as a delivery of its own. */
  async redeliver(id: string, deliveryId: string): Promise<{ deliveryId: string }> {
    if (!isJobId(deliveryId)) throw noSuch('delivery', deliveryId);
    return await this.#post(`${pathOf(id)}/deliveries/${deliveryId}/redeliver`);
  }

  async #get<T>(path: string, query = new URLSearchParams()): Promise<T> {
    return await this.#transport.call<T>({ method: 'GET', path, query, repeatable: true });
  }

  async #post<T>(path: string, body?: unknown): Promise<T> {
    return await this.#transport.call<T>({ method: 'POST', path, body, repeatable: false });
  }
}

/** What is no id would be another path, so it is not sent at all. */
function pathOf(id: string): string {
  if (isJobId(id)) return `/v1/webhooks/${id}`;
  throw noSuch('webhook', id);
}

function noSuch(what: string, id: string): NotFound {
  return new NotFound(404, 'NOT_FOUND', `no ${what} has the id "${id}"`);
}
