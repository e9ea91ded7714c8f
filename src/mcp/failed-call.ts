import { ProblemError, ServerUnreachable } from '../client/index.ts';
import { Refusal } from '../protocol/refusal.ts';
import { ToolError } from './tool.ts';
import { type Facts, facts } from './text/facts.ts';

/** Why a call failed, and what to do about it. */
export function failedCall(error: unknown): Facts {
  if (error instanceof ToolError) return { error: error.message, ...error.facts };
  if (error instanceof Refusal) {
    return { error: 'The arguments are wrong.', details: lines(error.errors) };
  }
  if (error instanceof ProblemError) return ofProblem(error);
  if (error instanceof ServerUnreachable) {
    return { error: error.message, do: 'Longshore does not answer. Try again in a moment.' };
  }
  return { error: error instanceof Error ? error.message : String(error) };
}

function ofProblem({ status, code, detail, errors, retryAfterMs }: ProblemError): Facts {
  return facts({
    error: detail,
    code,
    details: lines(errors),
    do: adviceFor(status, code, retryAfterMs),
  });
}

function adviceFor(status: number, code: string, retryAfterMs: number | null): string | null {
  if (code === 'PAYLOAD_INVALID') return 'Compare the params with the schema: list_definitions.';
  if (code === 'UNREGISTERED') return 'list_definitions has the definitions that workers have.';
  switch (status) {
    case 401:
      return 'The API key is missing, wrong, expired or revoked: ask the operator for another one.';
    case 403:
      return 'The API key may not do this: ask the operator for a key with the scope.';
    case 404:
      return 'Check the id. Retention deletes old jobs.';
    case 409:
      return 'The state of the job does not allow this: explain_job shows it.';
    case 429:
      return retryAfterMs === null
        ? 'Wait before the next call.'
        : `Wait ${Math.ceil(retryAfterMs / 1_000)} s before the next call.`;
    default:
      return status >= 500 ? 'The server has a problem: try again in a moment.' : null;
  }
}

function lines(errors: readonly { pointer: string; detail: string }[] = []): string[] {
  return errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
}
