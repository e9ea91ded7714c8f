import type { Job } from '../job.ts';

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
  /** How long the server asks to wait before the next try; null when it does not say. */
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

/** The job ended, but not well: it failed or was cancelled. `job` tells the rest. */
export class JobFailed extends Error {
  override name = 'JobFailed';
  readonly job: Job;

  constructor(job: Job) {
    const why = job.error === null ? '' : `: ${job.error.code} ${job.error.message}`;
    super(`job ${job.jobId} (${job.definitionKey}) ${job.status}${why}`);
    this.job = job;
  }
}
