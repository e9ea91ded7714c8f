import { duration } from '../../core/values/duration.ts';
import type { Job } from '../job.ts';

/** One error of a request, and its position in the body. */
export interface ProblemDetail {
  pointer: string;
  detail: string;
}

/** A request that the server refused: an RFC 9457 problem with a stable `code`. */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly ProblemDetail[];
  /** How long to wait before the next try; null when the server does not say. */
  readonly retryAfterMs: number | null;

  constructor(
    status: number,
    code: string,
    detail: string,
    errors: readonly ProblemDetail[] = [],
    retryAfterMs: number | null = null,
  ) {
    super(detail);
    this.retryAfterMs = retryAfterMs;
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No response: wrong address, server down, network broken, or a timeout. */
export class ServerUnreachable extends Error {
  override name = 'ServerUnreachable';
  readonly url: string;

  constructor(url: string, why: string, cause: unknown) {
    super(`cannot reach ${url}: ${why}`, { cause });
    this.url = url;
  }
}

/** The job did not end in time and continues. `job` is its last known state, if any. */
export class WaitTimeout extends Error {
  override name = 'WaitTimeout';
  readonly job: Job | null;

  /** `what` is such as `job ID`. */
  constructor(what: string, timeoutMs: number, job: Job | null, status: string | null = null) {
    const now = job?.status ?? status;
    const state = now === null ? '' : `; it is still ${now}`;
    super(`${what} did not end within ${duration(timeoutMs)}${state}`);
    this.job = job;
  }
}

/** The job failed or was cancelled. */
export class JobFailed extends Error {
  override name = 'JobFailed';
  readonly job: Job;

  constructor(job: Job) {
    const why = job.error === null ? '' : `: ${job.error.code} ${job.error.message}`;
    super(`job ${job.jobId} (${job.definitionKey}) ${job.status}${why}`);
    this.job = job;
  }
}
