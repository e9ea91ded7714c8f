import { z } from 'zod';

/**
 * Every refusal the API can give, in one place. The codes are the contract: programs branch on
 * them, so a code never changes its meaning or its status. `docs` pages are rendered from this
 * table.
 */
export const PROBLEMS = {
  VALIDATION_FAILED: { status: 400, title: 'The request does not fit the API' },
  PAYLOAD_INVALID: { status: 400, title: 'The params are not allowed as they are' },
  URL_NOT_ALLOWED: { status: 400, title: 'Webhooks may not be sent there' },
  INVALID_JSON: { status: 400, title: 'The body is not JSON' },
  JSON_TOO_COMPLEX: { status: 400, title: 'The body has too many values or too many levels' },
  BAD_REQUEST: { status: 400, title: 'The request is not proper HTTP' },
  UNAUTHORIZED: { status: 401, title: 'Nobody is known by this key' },
  FORBIDDEN: { status: 403, title: 'The request is not allowed' },
  NOT_FOUND: { status: 404, title: 'There is no such thing here' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The path does not know this method' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  CONFLICT: { status: 409, title: 'Its state does not allow this' },
  IDEMPOTENCY_CONFLICT: { status: 409, title: 'The idempotency key was used for another job' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The request is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body must be JSON in UTF-8' },
  MISDIRECTED_REQUEST: { status: 421, title: 'This server does not answer for that host' },
  RATE_LIMITED: { status: 429, title: 'There were too many requests' },
  QUOTA_EXCEEDED: { status: 429, title: 'The tenant has as many as it may have' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The headers are too large' },
  INTERNAL: { status: 500, title: 'Something went wrong in the server' },
  UNAVAILABLE: { status: 503, title: 'The server cannot answer right now' },
  NO_LOCAL_WORKER: { status: 503, title: 'No job can run in this server' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export function problemType(code: ProblemCode): string {
  return `urn:longshore:error:${code}`;
}

/** One thing that is wrong with a request, and where: a JSON pointer into the body or the query. */
export const Violation = z.looseObject({
  pointer: z.string().describe('Where: a JSON pointer into the body, or into the query.'),
  detail: z.string().describe('What is wrong there.'),
});

/** RFC 9457. `code` is what programs read; `title` and `detail` are for people. */
export const Problem = z
  .looseObject({
    type: z.string().describe('A stable name of the kind of problem.'),
    title: z.string().describe('The kind of problem in a sentence.'),
    status: z.int().describe('The HTTP status.'),
    detail: z.string().describe('What happened this time.'),
    instance: z.string().optional().describe('This very occurrence, as the log names it.'),
    code: z.enum(Object.keys(PROBLEMS)).describe('What programs should look at.'),
    name: z.string().optional().describe('EnqueueError, where seed 004 calls it so.'),
    errors: z.array(Violation).optional().describe('All that is wrong, when it was checked.'),
  })
  .meta({ id: 'Problem', description: 'A refusal (RFC 9457).' });

export interface Violation {
  pointer: string;
  detail: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance?: string;
  code: ProblemCode;
  name?: string;
  errors?: readonly Violation[];
}
