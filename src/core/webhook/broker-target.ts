import type { CloudEvent } from './webhook-event.ts';

const SCHEME = 'broker://';

/** The name of the broker in `broker://NAME`; null for other URLs. */
export function brokerIn(url: string): string | null {
  return url.startsWith(SCHEME) ? url.slice(SCHEME.length) : null;
}

/** The event, then the key of the definition: `job.failed.#` and `job.*.report` select by both. */
export function routingKeyOf(event: string, { data }: CloudEvent): string {
  const key = (data as { definitionKey?: unknown } | null)?.definitionKey;
  return typeof key === 'string' ? `${event}.${key}` : event;
}
