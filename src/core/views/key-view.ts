import type { PauseView } from '../queue/limit-view.ts';
import type { Scope } from '../access/scope.ts';

/** A key without its secret, which only the response that created it contains. */
export interface KeyView {
  keyId: string;
  tenant: string;
  name: string;
  scopes: Scope[];
  /** The definitions that a worker with this key may serve; null means all. */
  definitions: string[] | null;
  status: KeyStatus;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** The key that replaced it in a rotation. */
  successorId: string | null;
}

export const KEY_STATUSES = ['active', 'expired', 'revoked'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

export const TENANT_WEIGHT_MAX = 1_000;

export interface HeldBackJobs {
  count: number;
  /** False when there are more. */
  isExact: boolean;
}

export interface TenantView {
  tenant: string;
  createdAt: string;
  /** Its share of the claims among tenants with jobs of equal priority. */
  weight: number;
  /** The most jobs it may run at a time; null means no limit. */
  concurrencyLimit: number | null;
  /** Running jobs that count; 0 while there is no limit. */
  inUse: number;
  paused: PauseView | null;
  firingAlerts: number;
  /** Jobs that failed in the last 24 hours, at most as many as are failed now. By the counters. */
  failedJobs: number;
  /** How long its first queued job has waited while it is at its limit or paused; null otherwise. */
  heldBackMs: number | null;
  /** How many of its jobs are queued then; counted up to a bound. */
  heldBackJobs: HeldBackJobs | null;
}
