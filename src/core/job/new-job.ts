import type { JobPolicy } from './job.ts';
import type { Unique } from './unique.ts';

/** A job on its way into the store. The store decides its first state by the database's clock. */
export interface NewJob {
  id: string;
  tenant: string;
  definitionKey: string;
  definitionVersion: number;
  /** Serialised once, at the door, and never parsed again before it reaches the runner. */
  paramsJson: string;
  priority: number;
  /** Null: as its definition says, which nobody has published yet. The first claim asks it. */
  maxAttempts: number | null;
  hold: boolean;
  runAt: Date | null;
  delayMs: number | null;
  idempotencyKey: string | null;
  /** Whose keys it must differ from. Within a tenant, a repeat may also have other params. */
  idempotencyScope: 'definition' | 'tenant';
  concurrencyKey: string | null;
  /** It shall be the only one of its kind for a while. */
  unique: Unique | null;
  /** A job that has not begun by then fails. */
  expiresAt: Date | null;
  tags: readonly string[] | null;
  policy: JobPolicy | null;
  /** Where in a trace it was made (`core/values/trace-context.ts`). */
  traceparent: string | null;
}

/** What a caller asks for, after the edge has parsed it. Null means "as the definition says". */
export interface JobRequest extends Omit<NewJob, 'id' | 'definitionVersion'> {
  definitionVersion: number | null;
  /** Its params are not judged when it is made; before it runs they are, all the same. */
  skipValidation: boolean;
}

/** A request that asks for nothing special. */
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
    idempotencyScope: 'definition',
    concurrencyKey: null,
    unique: null,
    expiresAt: null,
    tags: null,
    policy: null,
    traceparent: null,
    skipValidation: false,
  };
}

/** What is published of the newest fitting version, if any worker has ever published the key. */
export interface PublishedDefaults {
  version: number;
  maxAttempts: number;
  publishedAt: string;
  paramsSchema: unknown;
}

/**
 * A job's policy is fixed when it is made, as far as the database must know it: the version and the
 * number of attempts. An unknown definition is accepted, since its worker may not be up yet; then the
 * first claim fills in the attempts. All else the worker reads from the definition when it runs the job.
 */
export function newJob(
  id: string,
  request: JobRequest,
  published: PublishedDefaults | null,
): NewJob {
  const { skipValidation: _skipValidation, ...asked } = request;
  return {
    ...asked,
    id,
    definitionVersion: request.definitionVersion ?? published?.version ?? 1,
    maxAttempts: request.maxAttempts ?? published?.maxAttempts ?? null,
  };
}
