import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { AuditView } from '../../../src/core/access/audit.ts';
import type { SecretView } from '../../../src/core/access/secret.ts';
import type { SessionView } from '../../../src/core/identity/session-view.ts';
import type { KeyView, TenantView } from '../../../src/core/views/key-view.ts';
import type { SettingsView } from '../../../src/core/views/setting-view.ts';
import type { DeliveryView, WebhookView } from '../../../src/core/webhook/webhook.ts';
import type { ProbeAnswer } from '../../../src/protocol/answers/probe-answer.ts';
import { now } from '../runtime/clock.ts';
import { type Query, read, readList } from './call.ts';
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
  q?: string;
  since?: AuditSince;
  cursor?: string;
}

/** Periods of the audit screen, in milliseconds. */
export const AUDIT_SINCE_MS = {
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
  all: null,
} as const;
export type AuditSince = keyof typeof AUDIT_SINCE_MS;
/** A search reads every entry of the period, and the log is kept for ever. */
export const AUDIT_SINCE_DEFAULT: AuditSince = '30d';

function auditAsked({ since = AUDIT_SINCE_DEFAULT, ...asked }: AuditAsked): Query {
  const ms = AUDIT_SINCE_MS[since];
  return ms === null
    ? { ...asked }
    : { ...asked, after: new Date(now().getTime() - ms).toISOString() };
}

export const auditQuery = (asked: AuditAsked) =>
  queryOptions({
    queryKey: ['audit', asked],
    queryFn: async (reading) => await read<AuditPage>('/v1/audit', auditAsked(asked))(reading),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const tenantsQuery = () =>
  queryOptions({
    queryKey: ['tenants'],
    queryFn: readList<TenantView>('tenants', '/v1/tenants'),
    refetchInterval: () => pollMs(LATER_MS),
  });

/** The tenant that this page acts for. */
export const ownTenantQuery = () =>
  queryOptions({
    queryKey: ['tenant'],
    queryFn: read<TenantView>('/v1/tenant'),
    refetchInterval: () => pollMs(SOON_MS),
  });

export const keysQuery = () =>
  queryOptions({
    queryKey: ['keys'],
    queryFn: readList<KeyView>('keys', '/v1/keys'),
    refetchInterval: () => pollMs(LATER_MS),
  });

export const sessionsQuery = (enabled: boolean) =>
  queryOptions({
    queryKey: ['sessions'],
    queryFn: readList<SessionView>('sessions', '/v1/sessions'),
    enabled,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const secretsQuery = () =>
  queryOptions({
    queryKey: ['secrets'],
    queryFn: readList<SecretView>('secrets', '/v1/secrets'),
    refetchInterval: () => pollMs(LATER_MS),
  });

export const healthQuery = () =>
  queryOptions({
    queryKey: ['health'],
    queryFn: read<ProbeAnswer>('/readyz', { verbose: '' }),
    refetchInterval: LATER_MS,
  });

export const settingsQuery = () =>
  queryOptions({
    queryKey: ['settings'],
    queryFn: read<SettingsView>('/v1/settings'),
  });

export const webhooksQuery = () =>
  queryOptions({
    queryKey: ['webhooks'],
    queryFn: readList<WebhookView>('webhooks', '/v1/webhooks'),
    refetchInterval: LATER_MS,
  });

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: read<WebhookView>(`/v1/webhooks/${encodeURIComponent(id)}`),
    refetchInterval: LATER_MS,
  });

export interface DeliveryPage {
  deliveries: DeliveryView[];
  nextCursor: string | null;
}

export const deliveriesQuery = (id: string, cursor: string | undefined) =>
  queryOptions({
    queryKey: ['deliveries', id, cursor],
    queryFn: read<DeliveryPage>(`/v1/webhooks/${encodeURIComponent(id)}/deliveries`, { cursor }),
    placeholderData: keepPreviousData,
    refetchInterval: SOON_MS,
  });
