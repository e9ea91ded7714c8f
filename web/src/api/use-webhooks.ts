import { useQuery } from '@tanstack/react-query';
import type { WebhookView } from '../../../src/core/webhook/webhook.ts';
import { webhooksQuery } from './admin-queries.ts';
import { useMay } from './use-may.ts';

const NONE: WebhookView[] = [];

/** Empty until the first response, and for a key that may not read webhooks. */
export function useWebhooks(): WebhookView[] {
  return useQuery({ ...webhooksQuery(), enabled: useMay('operate') }).data ?? NONE;
}
