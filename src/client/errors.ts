import type { Job } from './job.ts';

/** One thing that is wrong with a request, and where in its body. */
export interface ProblemDetail {
  pointer: string;
  detail: string;
}

/** The server understood and refused: an RFC 9457 problem with a stable `code`. */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly ProblemDetail[];
  /** When to come again, if the server said so. */
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
  }
}

/** 401: no key was sent, or none that counts. */
export class Unauthorized extends ProblemError {
  override name = 'Unauthorized';
}

/** 403: the key is good, but not for this. */
export class Forbidden extends ProblemError {
  override name = 'Forbidden';
}

/** 429: too many requests, or more than a quota allows; `retryAfterMs` says when to come again. */
export class RateLimited extends ProblemError {
  override name = 'RateLimited';
}

/** The class by which a refusal of this status can be caught. */
export function problemClass(status: number): typeof ProblemError {
  switch (status) {
    case 401:
      return Unauthorized;
    case 403:
      return Forbidden;
    case 429:
      return RateLimited;
    default:
      return ProblemError;
  }
}

/** No answer came: wrong address, server down, network broken, or too slow. */
export class ServerUnreachable extends Error {
  override name = 'ServerUnreachable';
  readonly url: string;

  constructor(url: string, why: string, cause: unknown) {
    super(`cannot reach ${url}: ${why}`, { cause });
    this.url = url;
  }
}

/** The job did not end in time. It goes on; `job` is how it was last seen, if it was. */
export class WaitTimeout extends Error {
  override name = 'WaitTimeout';
  readonly job: Job | null;

  constructor(jobId: string, timeoutMs: number, job: Job | null) {
    const state = job === null ? '' : ` and is ${job.status}`;
    super(`job ${jobId} did not end within ${timeoutMs} ms${state}`);
    this.job = job;
  }
}
