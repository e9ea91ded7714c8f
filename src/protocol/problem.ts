import { z } from 'zod';
import { ARTIFACT_ERROR_CODES, type ArtifactErrorCode } from '../core/artifact/artifact-error.ts';

const ARTIFACT_STATUSES: Partial<Record<string, number>> = {
  STORAGE_UNAVAILABLE: 503,
  ARTIFACT_MISSING: 503,
  ARCHIVE_TOO_LARGE: 413,
};

/** Archives that are refused, each with its own code. */
const ARTIFACT_PROBLEMS = Object.fromEntries(
  Object.entries(ARTIFACT_ERROR_CODES).map(([code, title]) => [
    code,
    { status: ARTIFACT_STATUSES[code] ?? 422, title: `Artifact refused: ${title}` },
  ]),
) as Record<ArtifactErrorCode, { status: number; title: string }>;

/**
 * All errors of the API. Codes are the contract: a code never changes its meaning or status. `docs`
 * pages are generated from this table.
 */
export const PROBLEMS = {
  VALIDATION_FAILED: { status: 400, title: 'Invalid request' },
  PAYLOAD_INVALID: { status: 400, title: 'Invalid params' },
  URL_NOT_ALLOWED: { status: 400, title: 'Webhook URL not allowed' },
  INVALID_JSON: { status: 400, title: 'Invalid JSON' },
  JSON_TOO_COMPLEX: { status: 400, title: 'JSON too complex' },
  BAD_REQUEST: { status: 400, title: 'Malformed HTTP request' },
  UNAUTHORIZED: { status: 401, title: 'Authentication required' },
  FORBIDDEN: { status: 403, title: 'Permission denied' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  REQUEST_TIMEOUT: { status: 408, title: 'Request timeout' },
  CONFLICT: { status: 409, title: 'Conflict with the current state' },
  IDEMPOTENCY_CONFLICT: { status: 409, title: 'Idempotency key already used' },
  BATCH_CLOSED: { status: 409, title: 'Batch closed' },
  NO_ENCRYPTION_KEY: { status: 409, title: 'No encryption key configured' },
  LINK_EXPIRED: { status: 410, title: 'Link expired' },
  WORKER_GONE: { status: 410, title: 'Worker no longer registered' },
  LARGE_VALUE_LOST: { status: 410, title: 'Large value missing in the storage' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'Request too large' },
  UNREGISTERED: { status: 422, title: 'Definition not registered by any worker' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'Unsupported content type: send JSON in UTF-8' },
  MISDIRECTED_REQUEST: { status: 421, title: 'Host not served here' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  QUOTA_EXCEEDED: { status: 429, title: 'Quota exceeded' },
  HEADERS_TOO_LARGE: { status: 431, title: 'Request headers too large' },
  ...ARTIFACT_PROBLEMS,
  INTERNAL: { status: 500, title: 'Internal server error' },
  UNAVAILABLE: { status: 503, title: 'Service unavailable' },
  NO_LOCAL_WORKER: { status: 503, title: 'No worker in this process' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export function problemType(code: ProblemCode): string {
  return `urn:longshore:error:${code}`;
}

/** A violation: a JSON pointer into the body or query, and a message. */
export const Violation = z.looseObject({
  pointer: z.string().describe('JSON pointer into the body or query.'),
  detail: z.string().describe('Description of the violation.'),
});

/** RFC 9457. Programs use `code`; `title` and `detail` are for users. */
export const Problem = z
  .looseObject({
    type: z.string().describe('Stable URN of the problem type.'),
    title: z.string().describe('Name of the problem type.'),
    status: z.int().describe('The HTTP status.'),
    detail: z.string().describe('Description of this occurrence.'),
    instance: z.string().optional().describe('Id of this occurrence, as in the log.'),
    code: z.enum(Object.keys(PROBLEMS)).describe('Stable error code for programs.'),
    name: z.string().optional().describe('EnqueueError, for the API of seed 004.'),
    tenant: z
      .string()
      .optional()
      .describe('The tenant that the job belongs to; only for an admin of the default tenant.'),
    errors: z.array(Violation).optional().describe('All violations of the request.'),
  })
  .meta({ id: 'Problem', description: 'An error (RFC 9457).' });

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
  tenant?: string;
  errors?: readonly Violation[];
}
