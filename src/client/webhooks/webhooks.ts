import { isJobId } from '../../core/job/job-id.ts';
import type {
  DeliveryView,
  WebhookEvent,
  WebhookFormat,
  WebhookView,
} from '../../core/webhook/webhook.ts';
import { notFound } from '../http/problems.ts';
import { queryOf } from '../http/query.ts';
import type { Transport } from '../http/transport.ts';

/** A webhook, and a delivery of one, as the server shows them. */
export type WebhookInfo = WebhookView;
export type Delivery = DeliveryView;

export interface WebhookOptions {
  /** Receives the events. */
  url: string;
  events: readonly WebhookEvent[];
  /** `slack`, `discord` or `teams`: messages for the incoming webhook of a chat. */
  format?: WebhookFormat | undefined;
  /** For display. */
  description?: string | null | undefined;
  /** Only jobs of these definitions; null for all. */
  definitionKeys?: readonly string[] | null | undefined;
  /** Only jobs with one of these tags; null for all. */
  tags?: readonly string[] | null | undefined;
}

/** The secret is shown only here. */
export interface NewWebhook {
  id: string;
  secret: string;
}

export interface DeliveryPage {
  deliveries: Delivery[];
  nextCursor: string | null;
}

/** Webhooks: `client.webhooks`. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Not repeated after a broken connection: the first secret would be lost. */
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

  /** Omitted fields stay unchanged. */
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

  /** Both secrets sign during the overlap, by default one day. */
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

  /** One page, the newest first. */
  async deliveries(
    id: string,
    page: { cursor?: string; limit?: number } = {},
  ): Promise<DeliveryPage> {
    return await this.#get(`${pathOf(id)}/deliveries`, queryOf(page));
  }

  /** Sends the same event again: now if it waits for a retry, else as a new delivery. */
  async redeliver(id: string, deliveryId: string): Promise<{ deliveryId: string }> {
    if (!isJobId(deliveryId)) throw notFound('delivery', deliveryId);
    return await this.#post(`${pathOf(id)}/deliveries/${deliveryId}/redeliver`);
  }

  async #get<T>(path: string, query = new URLSearchParams()): Promise<T> {
    return await this.#transport.call<T>({ method: 'GET', path, query, repeatable: true });
  }

  async #post<T>(path: string, body?: unknown): Promise<T> {
    return await this.#transport.call<T>({ method: 'POST', path, body, repeatable: false });
  }
}

/** An invalid id could change the path, so no request is sent. */
function pathOf(id: string): string {
  if (isJobId(id)) return `/v1/webhooks/${id}`;
  throw notFound('webhook', id);
}
