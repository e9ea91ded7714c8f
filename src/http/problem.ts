import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { LimitError } from '../core/queue/limits.ts';
import type { Log } from '../runtime/log.ts';
import { type Problem, type ProblemCode, PROBLEMS, problemType } from '../protocol/problem.ts';
import { Refusal } from '../protocol/refusal.ts';
import { DatabaseUnavailable } from '../store/connection/db.ts';
import { UnknownDefinition } from '../store/limits/limits.ts';
import { QuotaExceeded } from '../enqueue/quotas.ts';
import { setSecurityHeaders } from './edge/security-headers.ts';

export const PROBLEM_TYPE = 'application/problem+json';

const NO_SUCH_PATH = 'there is no such path; see /docs';

export function noSuchPath(): Refusal {
  return new Refusal('NOT_FOUND', NO_SUCH_PATH);
}

/** What the framework refuses by itself, in our words. */
const FRAMEWORK_ERRORS: Record<string, [code: ProblemCode, detail: string]> = {
  FST_ERR_BAD_URL: ['NOT_FOUND', NO_SUCH_PATH],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', NO_SUCH_PATH],
  FST_ERR_NOT_FOUND: ['NOT_FOUND', NO_SUCH_PATH],
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'the body is larger than this call takes'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'the body must be sent as application/json',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'BAD_REQUEST',
    'the body is not as long as Content-Length says',
  ],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'the content type is missing'],
};

export function unavailable(detail: string): Refusal {
  return new Refusal('UNAVAILABLE', detail, { headers: { 'retry-after': '1' } });
}

/** The refusal behind an error, or null when it is none: then it is a bug, or bad luck. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof DatabaseUnavailable) {
    return unavailable('the database cannot be reached right now; try again');
  }
  if (error instanceof QuotaExceeded) {
    return new Refusal('QUOTA_EXCEEDED', error.message, { headers: { 'retry-after': '1' } });
  }
  if (error instanceof UnknownDefinition) return new Refusal('NOT_FOUND', error.message);
  if (error instanceof LimitError) return new Refusal('VALIDATION_FAILED', error.message);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = FRAMEWORK_ERRORS[code];
  return known ? new Refusal(...known) : null;
}

export function problemOf(refusal: Refusal): Problem {
  const { code, message: detail, errors } = refusal;
  const { status, title } = PROBLEMS[code];
  return { type: problemType(code), title, status, detail, code, ...(errors && { errors }) };
}

/** The one place where errors become answers. What is not known is logged, and told to nobody. */
export function errorHandler(log: Log) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOf(error) ?? brokenOff(request);
    if (refusal) return sendProblem(reply, refusal);
    // The same name in the answer and in the log lets a person bring the two together.
    const instance = `urn:uuid:${randomUUID()}`;
    log.error(
      { err: error, instance, method: request.method, path: pathOf(request.url) },
      'request failed',
    );
    const hidden = new Refusal('INTERNAL', 'an unexpected error; the log of the server has more');
    sendProblem(reply, hidden, { instance });
  };
}

/** Without the query, where people search for things that no log should keep. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

/** A caller who hung up half-way gets no answer; there is nothing to repair either. */
function brokenOff(request: FastifyRequest): Refusal | null {
  return request.raw.readableAborted ? new Refusal('BAD_REQUEST', 'the request broke off') : null;
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
