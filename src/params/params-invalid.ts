import type { ParamsViolation } from './compile-schema.ts';

/** A batch can be wrong in a million places; nobody reads more than about so many. */
export const MISFITS_MAX = 1_000;

/** What is wrong with the params of the request at this index. */
export interface MisfitParams extends ParamsViolation {
  index: number;
}

/** Params do not fit the schema that was published for their definition. */
export class ParamsInvalid extends Error {
  override name = 'ParamsInvalid';
  readonly code = 'PAYLOAD_INVALID';
  readonly errors: readonly MisfitParams[];

  constructor(errors: readonly MisfitParams[]) {
    const shown = errors.slice(0, 5).map(({ pointer, detail }) => `params${pointer}: ${detail}`);
    super(`the params do not fit their definition: ${shown.join('; ')}`);
    this.errors = errors;
  }
}
