import type { ProblemCode, Violation } from './problem.ts';

export interface RefusalOptions {
  errors?: readonly Violation[];
  headers?: Readonly<Record<string, string>>;
}

/**
 * An expected API error, converted to a response in one place. Its message is sent to the caller,
 * so it must not contain internals.
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
