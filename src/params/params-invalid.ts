import type { ParamsViolation } from './compile-schema.ts';

/** The most violations reported for a batch. */
export const MISFITS_MAX = 1_000;

/** A violation in the params of the request at this index. */
export interface MisfitParams extends ParamsViolation {
  index: number;
}

/** The params do not match the published schema of their definition. */
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
