import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ArtifactError } from '../core/artifact/artifact-error.ts';
import { LINKS_PATH } from '../core/signal/signal-link.ts';
import { LimitError } from '../core/queue/limits.ts';
import type { Log } from '../runtime/log.ts';
import { type Problem, type ProblemCode, PROBLEMS, problemType } from '../protocol/problem.ts';
import { Refusal } from '../protocol/refusal.ts';
import { DatabaseUnavailable } from '../store/connection/db.ts';
import { UnknownDefinition } from '../store/limits/limits.ts';
import { QuotaExceeded } from '../enqueue/quotas.ts';
import { setSecurityHeaders } from './edge/security-headers.ts';

export const PROBLEM_TYPE = 'application/problem+json';

const NO_SUCH_PATH = 'path not found; see /docs';

export function noSuchPath(): Refusal {
  return new Refusal('NOT_FOUND', NO_SUCH_PATH);
}

/** Errors of Fastify as API errors. */
const FRAMEWORK_ERRORS: Record<string, [code: ProblemCode, detail: string]> = {
  FST_ERR_BAD_URL: ['NOT_FOUND', NO_SUCH_PATH],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', NO_SUCH_PATH],
  FST_ERR_NOT_FOUND: ['NOT_FOUND', NO_SUCH_PATH],
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'the body exceeds the limit of this call'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'the content type must be application/json',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'BAD_REQUEST',
    'the length of the body differs from Content-Length',
  ],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'the content type is missing'],
};

export function unavailable(detail: string): Refusal {
  return new Refusal('UNAVAILABLE', detail, { headers: { 'retry-after': '1' } });
}

/** The API error for an error, or null for an unexpected one. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof DatabaseUnavailable) {
    return unavailable('the database is unreachable; try again');
  }
  if (error instanceof QuotaExceeded) {
    return new Refusal('QUOTA_EXCEEDED', error.message, { headers: { 'retry-after': '1' } });
  }
  if (error instanceof ArtifactError) return new Refusal(error.code, error.message);
  if (error instanceof UnknownDefinition) return new Refusal('NOT_FOUND', error.message);
  if (error instanceof LimitError) return new Refusal('VALIDATION_FAILED', error.message);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = FRAMEWORK_ERRORS[code];
  return known ? new Refusal(...known) : null;
}

export function problemOf(refusal: Refusal): Problem {
  const { code, message: detail, errors, tenant } = refusal;
  const { status, title } = PROBLEMS[code];
  const more = { ...(tenant !== undefined && { tenant }), ...(errors && { errors }) };
  return { type: problemType(code), title, status, detail, code, ...more };
}

/** Converts errors to responses. Unexpected errors are logged and not shown. */
export function errorHandler(log: Log) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOf(error) ?? brokenOff(request);
    if (refusal) return sendProblem(reply, refusal);
    // The same id in the response and in the log.
    const instance = `urn:uuid:${randomUUID()}`;
    log.error(
      { err: error, instance, method: request.method, path: pathOf(request.url) },
      'request failed',
    );
    const hidden = new Refusal('INTERNAL', 'unexpected error; see the log of the server');
    sendProblem(reply, hidden, { instance });
  };
}

/** Without the query and the secret of a link, which must not be logged. */
export function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? '';
  return path.startsWith(`${LINKS_PATH}/`) ? `${LINKS_PATH}/…` : path;
}

/** The client disconnected while sending; there is no one to respond to. */
function brokenOff(request: FastifyRequest): Refusal | null {
  return request.raw.readableAborted ? new Refusal('BAD_REQUEST', 'the request was aborted') : null;
}

export function sendProblem(reply: FastifyReply, refusal: Refusal, more?: Partial<Problem>): void {
  const problem: Problem = { ...problemOf(refusal), ...more };
  setSecurityHeaders(reply);
  void reply
    .code(problem.status)
    .headers({ ...refusal.headers, 'cache-control': 'no-store' })
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(problem));
}
