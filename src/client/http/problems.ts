import { ProblemError, type ProblemDetail } from './errors.ts';

/**
 * Refusals as classes, for `error instanceof NotFound`. Each is a `ProblemError` with its `code`.
 */

/** The request is invalid; repeating it cannot help. `errors` has the positions. */
export class InvalidRequest extends ProblemError {
  override name = 'InvalidRequest';
}

/** The params of a job are refused: PAYLOAD_INVALID or PAYLOAD_TOO_LARGE. */
export class EnqueueError extends InvalidRequest {
  override name = 'EnqueueError';
}

/** No API key was sent, or an invalid one. */
export class Unauthorized extends ProblemError {
  override name = 'Unauthorized';
}

/** The key does not allow this. */
export class Forbidden extends ProblemError {
  override name = 'Forbidden';
}

export class NotFound extends ProblemError {
  override name = 'NotFound';
}

/** For an id that no request needs to look up, with the text of the API. */
export function notFound(what: string, id: string): NotFound {
  return new NotFound(404, 'NOT_FOUND', `${what} ${JSON.stringify(id)} not found`);
}

/** The state of the object does not allow this. */
export class Conflict extends ProblemError {
  override name = 'Conflict';
}

/** The idempotency key was used for a job with other params. */
export class IdempotencyConflict extends Conflict {
  override name = 'IdempotencyConflict';
}

/** Too many requests, or a quota is exceeded; `retryAfterMs` says how long to wait. */
export class RateLimited extends ProblemError {
  override name = 'RateLimited';
}

/** The server, or a proxy before it, cannot answer right now. */
export class Unavailable extends ProblemError {
  override name = 'Unavailable';
}

const BY_CODE: Record<string, typeof ProblemError> = {
  IDEMPOTENCY_CONFLICT: IdempotencyConflict,
  PAYLOAD_INVALID: EnqueueError,
  PAYLOAD_TOO_LARGE: EnqueueError,
};

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

/** The problem as an instance of the most specific class. */
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
