import type { ProblemCode, Violation } from './problem.ts';

export interface RefusalOptions {
  errors?: readonly Violation[];
  headers?: Readonly<Record<string, string>>;
  /** The tenant that the requested job belongs to, for callers who may act for it. */
  tenant?: string;
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
  readonly tenant: string | undefined;

  constructor(
    code: ProblemCode,
    detail: string,
    { errors, headers = {}, tenant }: RefusalOptions = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = errors;
    this.headers = headers;
    this.tenant = tenant;
  }
}
