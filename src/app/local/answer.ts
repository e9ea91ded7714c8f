import { problemError } from '../../client/http/problems.ts';
import { PROBLEMS } from '../../protocol/problem.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';

/** Maps errors to those that an HTTP client would get. */
export async function answerOf<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asProblem(error);
  }
}

function asProblem(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return problemError(503, 'UNAVAILABLE', error.message);
  if (!(error instanceof Refusal)) return error;
  const { code, message, errors } = error;
  return problemError(PROBLEMS[code].status, code, message, errors);
}
