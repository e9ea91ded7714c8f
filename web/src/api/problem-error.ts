import type { Problem } from '../../../src/protocol/problem.ts';
import { fieldLabel } from '../words/field-label.ts';
import { sentenceOf } from '../words/sentence.ts';

/** An error response of the server; status 0 if it could not be reached. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly violations: readonly { pointer: string; detail: string }[];
  /** The tenant that the job belongs to. */
  readonly tenant: string | null;

  constructor(
    status: number,
    code: string,
    detail: string,
    violations: Problem['errors'] = [],
    tenant: string | null = null,
  ) {
    super(detail);
    this.name = 'ProblemError';
    this.status = status;
    this.code = code;
    this.violations = violations;
    this.tenant = tenant;
  }
}

export function problemOf(status: number, body: unknown): ProblemError {
  if (isProblem(body)) {
    return new ProblemError(status, body.code, body.detail, body.errors, body.tenant);
  }
  return new ProblemError(status, 'UNKNOWN', `the server answered with status ${status}`);
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}

export const UNREACHABLE = "Can't reach the server. Trying again…";

/** The server answered and refused the request as it is. */
export function isRefused(error: unknown): error is ProblemError {
  return error instanceof ProblemError && error.status >= 400 && error.status < 500;
}

export function errorText(error: unknown): string {
  if (!(error instanceof ProblemError)) return String(error);
  if (error.status === 0) return UNREACHABLE;
  return sentenceOf(error.message);
}

/** For a form that shows why the server refused it; other failures are toasts. */
export function refusalText(error: unknown): string | null {
  return isRefused(error) ? errorText(error) : null;
}

/** For a failed change. Changes are not retried, so the text must not suggest it. */
export function failedChangeText(error: unknown): string {
  if (error instanceof ProblemError && error.status === 0) {
    return "Can't reach the server. Your change was NOT applied.";
  }
  return errorText(error);
}

/** The same for a dialog, one sentence for each wrong field, which begins with its label. */
export function changeComplaints(
  error: unknown,
  labels?: Readonly<Record<string, string>>,
): string[] {
  if (!(error instanceof ProblemError) || error.violations.length === 0) {
    return [failedChangeText(error)];
  }
  return error.violations.map(({ pointer, detail }) =>
    sentenceOf(pointer === '' ? detail : `${fieldLabel(pointer, labels)}: ${detail}`),
  );
}
