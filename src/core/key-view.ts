import type { Scope } from './scope.ts';

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

export interface TenantView {
  tenant: string;
  createdAt: string;
}
