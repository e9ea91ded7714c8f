import { ProblemError, type ProblemDetail } from './errors.ts';

/**
 * The refusals that programs tell apart, as classes: `error instanceof NotFound` reads better than a
 * comparison of codes, and is checked by the compiler. Each is a `ProblemError`, and its `code` is
 * still there for who wants to know more exactly.
 */

/** The request is wrong as it is; sending it again cannot help. `errors` says where. */
export class InvalidRequest extends ProblemError {
  override name = 'InvalidRequest';
}

/** No key was sent, or none that counts. */
export class Unauthorized extends ProblemError {
  override name = 'Unauthorized';
}

/** The key is good, but not for this. */
export class Forbidden extends ProblemError {
  override name = 'Forbidden';
}

export class NotFound extends ProblemError {
  override name = 'NotFound';
}

/** The state of the thing does not allow this. */
export class Conflict extends ProblemError {
  override name = 'Conflict';
}

/** The idempotency key was used before, for a job with other params. */
export class IdempotencyConflict extends Conflict {
  override name = 'IdempotencyConflict';
}

/** Too many requests, or more than a quota allows; `retryAfterMs` says how long to wait. */
export class RateLimited extends ProblemError {
  override name = 'RateLimited';
}

/** The server, or something before it, cannot answer right now. */
export class Unavailable extends ProblemError {
  override name = 'Unavailable';
}

const BY_CODE: Record<string, typeof ProblemError> = { IDEMPOTENCY_CONFLICT: IdempotencyConflict };

const BY_STATUS: Record<number, typeof ProblemError> = {
  400: InvalidRequest,
  401: Unauthorized,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  413: InvalidRequest,
  415: InvalidRequest,
  422: InvalidRequest,
  429: RateLimited,
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};

/** The problem as the most exact class that there is for it. */
export function problemError(
  status: number,
  code: string,
  detail: string,
  errors: readonly ProblemDetail[] = [],
  retryAfterMs: number | null = null,
): ProblemError {
  const Problem = BY_CODE[code] ?? BY_STATUS[status] ?? ProblemError;
  return new Problem(status, code, detail, errors, retryAfterMs);
}
