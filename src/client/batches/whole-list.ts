import { ProblemError } from '../http/errors.ts';
import { problemError } from '../http/problems.ts';

/** A refusal of a part of a list, with the places of the whole list: the part begins at `first`. */
export function ofWholeList(error: unknown, first: number): unknown {
  if (!(error instanceof ProblemError) || first === 0) return error;
  const moved = (text: string) =>
    text.replace(/^\/jobs\/(\d+)/, (_, place: string) => `/jobs/${Number(place) + first}`);
  const errors = error.errors.map((one) => ({ ...one, pointer: moved(one.pointer) }));
  return problemError(error.status, error.code, moved(error.message), errors, error.retryAfterMs);
}
