import type { After } from '../dependency/dependency.ts';
import { FIRST_SHAPE } from '../shape/upgrade.ts';
import type { JobPolicy } from './job.ts';
import type { Unique } from './unique.ts';

/** A job before it is stored. The store decides its first state by the database's clock. */
export interface NewJob {
  id: string;
  tenant: string;
  definitionKey: string;
  definitionVersion: number;
  /** Serialised once when the request arrives, and not parsed again before the runner. */
  paramsJson: string;
  priority: number;
  /** Null when the definition is not published yet; the first claim fills it in. */
  maxAttempts: number | null;
  hold: boolean;
  runAt: Date | null;
  delayMs: number | null;
  idempotencyKey: string | null;
  /** Names the request, so that a repeat creates no second job; unused with an idempotency key. */
  requestId: string | null;
  /** The scope of the idempotency key. Within a tenant, a repeat may have other params. */
  idempotencyScope: 'definition' | 'tenant';
  concurrencyKey: string | null;
  /** Set for a unique job. */
  unique: Unique | null;
  /** A job that has not started by then fails. */
  expiresAt: Date | null;
  tags: readonly string[] | null;
  policy: JobPolicy | null;
  /** The trace context of the enqueuing code (`core/values/trace-context.ts`). */
  traceparent: string | null;
  /** The jobs that it waits for; null when there are none. */
  after: After | null;
}

/** A parsed request of a caller. Null means "as the definition says". */
export interface JobRequest extends Omit<NewJob, 'id' | 'definitionVersion'> {
  definitionVersion: number | null;
  /** The shape of the params; null: the one that the published code works with. */
  paramsShape: number | null;
  /** The params are not validated on enqueue. They are still validated before the job runs. */
  skipValidation: boolean;
  /** Refused when no worker has registered the definition. Null: as the server is set. */
  requireRegistered: boolean | null;
}

/** A request with default options. */
export function plainRequest(
  tenant: string,
  definitionKey: string,
  paramsJson: string,
): JobRequest {
  return {
    tenant,
    definitionKey,
    definitionVersion: null,
    paramsJson,
    priority: 0,
    maxAttempts: null,
    hold: false,
    runAt: null,
    delayMs: null,
    idempotencyKey: null,
    requestId: null,
    idempotencyScope: 'definition',
    concurrencyKey: null,
    unique: null,
    expiresAt: null,
    tags: null,
    policy: null,
    traceparent: null,
    after: null,
    paramsShape: null,
    skipValidation: false,
    requireRegistered: null,
  };
}

/** The published defaults of the newest matching version, if the key was ever published. */
export interface PublishedDefaults {
  version: number;
  maxAttempts: number;
  publishedAt: string;
  paramsSchema: unknown;
  /** Absent for 1. */
  paramsShape?: number;
  /** A release decides which version new jobs get. */
  isReleased?: boolean;
}

/** The version of jobs that are held, scheduled or wait for others, which get their version when they become queued. */
export const VERSION_WHEN_DUE = 0;

/** The version of the queue of a new job. */
export function queueVersion(
  { definitionVersion, hold, runAt, delayMs, after }: JobRequest,
  published: PublishedDefaults | null,
): number {
  if (definitionVersion !== null) return definitionVersion;
  const waits = hold || runAt !== null || delayMs !== null || after !== null;
  return published?.isReleased && waits ? VERSION_WHEN_DUE : (published?.version ?? 1);
}

/**
 * Fixes the part of the policy that the database needs: version and attempts. An unknown definition
 * is accepted, since its worker may not be up yet; then the first claim fills in the attempts. The
 * worker reads everything else from the definition when it runs the job.
 */
export function newJob(
  id: string,
  request: JobRequest,
  published: PublishedDefaults | null,
): NewJob {
  const shape = request.paramsShape ?? published?.paramsShape ?? FIRST_SHAPE;
  // Field by field: with a spread, this would be the dearest function of a bulk call.
  return {
    id,
    tenant: request.tenant,
    definitionKey: request.definitionKey,
    definitionVersion: queueVersion(request, published),
    paramsJson: request.paramsJson,
    priority: request.priority,
    maxAttempts: request.maxAttempts ?? published?.maxAttempts ?? null,
    hold: request.hold,
    runAt: request.runAt,
    delayMs: request.delayMs,
    idempotencyKey: request.idempotencyKey,
    requestId: request.requestId,
    idempotencyScope: request.idempotencyScope,
    concurrencyKey: request.concurrencyKey,
    unique: request.unique,
    expiresAt: request.expiresAt,
    tags: request.tags,
    policy: shape === FIRST_SHAPE ? request.policy : { ...request.policy, paramsShape: shape },
    traceparent: request.traceparent,
    after: request.after,
  };
}
