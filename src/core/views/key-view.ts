import type { PauseView } from '../queue/limit-view.ts';
import type { Scope } from '../access/scope.ts';

/** A key as it can be looked at: all of it but the secret, which only its first answer had. */
export interface KeyView {
  keyId: string;
  tenant: string;
  name: string;
  scopes: Scope[];
  status: KeyStatus;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** The key that took its place, when it was rotated. */
  successorId: string | null;
}

export const KEY_STATUSES = ['active', 'expired', 'revoked'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

export const TENANT_WEIGHT_MAX = 1_000;

export interface TenantView {
  tenant: string;
  createdAt: string;
  /** Its share of the claims among tenants whose jobs are as urgent. */
  weight: number;
  /** How many of its jobs run at a time; null is no limit. */
  concurrencyLimit: number | null;
  /** How many run and are counted; 0 while there is no limit. */
  inUse: number;
  paused: PauseView | null;
}
