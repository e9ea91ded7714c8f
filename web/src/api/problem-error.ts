import type { Problem } from '../../../src/protocol/problem.ts';

/** A refusal of the server, or that it could not be asked at all (status 0). */
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

/** What went wrong and, where it can be said, what to do about it. */
export function tellError(error: unknown): string {
  if (!(error instanceof ProblemError)) return String(error);
  if (error.status === 0) return "Can't reach the server. Trying again…";
  return `${error.message[0]?.toUpperCase() ?? ''}${error.message.slice(1)}.`;
}

/** The same for a change. Nothing makes it again by itself, so it must not sound as if something did. */
export function tellFailedChange(error: unknown): string {
  if (error instanceof ProblemError && error.status === 0) {
    return "Can't reach the server. Your change was NOT applied.";
  }
  return tellError(error);
}
