import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { AuditView } from '../../../src/core/access/audit.ts';
import type { KeyView } from '../../../src/core/views/key-view.ts';
import type { SettingsView } from '../../../src/core/views/setting-view.ts';
import type { DeliveryView, WebhookView } from '../../../src/core/webhook/webhook.ts';
import type { ProbeAnswer } from '../../../src/protocol/answers/probe-answer.ts';
import { call } from './call.ts';
import { pollMs } from './connection.ts';

/** Queries of the administration screens. Their data changes seldom. */
const SOON_MS = 2_000;
const LATER_MS = 10_000;

export interface AuditPage {
  entries: AuditView[];
  nextCursor: string | null;
}

export interface AuditAsked {
  actor?: string;
  action?: string;
  subject?: string;
  cursor?: string;
}

export const auditQuery = (asked: AuditAsked) =>
  queryOptions({
    queryKey: ['audit', asked],
    queryFn: ({ signal }) => call<AuditPage>('GET', '/v1/audit', { query: { ...asked }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const keysQuery = () =>
  queryOptions({
    queryKey: ['keys'],
    queryFn: async ({ signal }) =>
      (await call<{ keys: KeyView[] }>('GET', '/v1/keys', { signal })).keys,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const healthQuery = () =>
  queryOptions({
    queryKey: ['health'],
    queryFn: ({ signal }) =>
      call<ProbeAnswer>('GET', '/readyz', { query: { verbose: '' }, signal }),
    refetchInterval: LATER_MS,
  });

export const settingsQuery = () =>
  queryOptions({
    queryKey: ['settings'],
    queryFn: ({ signal }) => call<SettingsView>('GET', '/v1/settings', { signal }),
  });

export const webhooksQuery = () =>
  queryOptions({
    queryKey: ['webhooks'],
    queryFn: async ({ signal }) =>
      (await call<{ webhooks: WebhookView[] }>('GET', '/v1/webhooks', { signal })).webhooks,
    refetchInterval: LATER_MS,
  });

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) =>
      call<WebhookView>('GET', `/v1/webhooks/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: LATER_MS,
  });

export interface DeliveryPage {
  deliveries: DeliveryView[];
  nextCursor: string | null;
}

export const deliveriesQuery = (id: string, cursor: string | undefined) =>
  queryOptions({
    queryKey: ['deliveries', id, cursor],
    queryFn: ({ signal }) =>
      call<DeliveryPage>('GET', `/v1/webhooks/${encodeURIComponent(id)}/deliveries`, {
        query: { cursor },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: SOON_MS,
  });
