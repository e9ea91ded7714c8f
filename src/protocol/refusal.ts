import type { ProblemCode, Violation } from './problem.ts';

export interface RefusalOptions {
  errors?: readonly Violation[];
  headers?: Readonly<Record<string, string>>;
}

/**
 * An expected "no": thrown wherever the answer is known, and turned into a problem at one place.
 * Its words reach the caller, so they never name what is inside the server.
 */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: ProblemCode;
  readonly errors: readonly Violation[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, { errors, headers = {} }: RefusalOptions = {}) {
    super(detail);
    this.code = code;
    this.errors = errors;
    this.headers = headers;
  }
}
