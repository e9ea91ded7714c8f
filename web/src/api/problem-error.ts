import type { Problem } from '../../../src/protocol/problem.ts';

/** An error response of the server; status 0 if it could not be reached. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly violations: readonly { pointer: string; detail: string }[];

  constructor(status: number, code: string, detail: string, violations: Problem['errors'] = []) {
    super(detail);
    this.name = 'ProblemError';
    this.status = status;
    this.code = code;
    this.violations = violations;
  }
}

export function problemOf(status: number, body: unknown): ProblemError {
  if (isProblem(body)) return new ProblemError(status, body.code, body.detail, body.errors);
  return new ProblemError(status, 'UNKNOWN', `the server answered with status ${status}`);
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}

export function errorText(error: unknown): string {
  if (!(error instanceof ProblemError)) return String(error);
  if (error.status === 0) return "Can't reach the server. Trying again…";
  return `${error.message[0]?.toUpperCase() ?? ''}${error.message.slice(1)}.`;
}

/** For a failed change. Changes are not retried, so the text must not suggest it. */
export function failedChangeText(error: unknown): string {
  if (error instanceof ProblemError && error.status === 0) {
    return "Can't reach the server. Your change was NOT applied.";
  }
  return errorText(error);
}
