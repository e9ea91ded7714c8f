import { CommanderError } from 'commander';
import { ProblemError, ServerUnreachable, WaitTimeout } from '../client/index.ts';
import { ConfigError } from '../config/error.ts';
import { type RefusalKind, StartRefusal } from '../runtime/start-refusal.ts';
import { ServerNotUp } from './project/server-address.ts';
import { UsageError } from './options/usage-error.ts';

/** Exit codes of all commands; a test compares docs/cli.md with this table. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'Success.' },
  failed: { code: 1, meaning: 'The job or the operation failed.' },
  usage: { code: 2, meaning: 'Invalid command, input or configuration.' },
  notFound: { code: 3, meaning: 'Not found.' },
  auth: { code: 4, meaning: 'Permission denied.' },
  conflict: { code: 5, meaning: 'Conflict with the current state.' },
  unreachable: { code: 6, meaning: 'The server or its database is unreachable.' },
  timeout: { code: 7, meaning: 'Timed out waiting; the job continues.' },
  definitions: { code: 8, meaning: 'The server exited: its definitions cannot be loaded.' },
  migration: { code: 9, meaning: 'The server exited: the migration of its database was refused.' },
  interrupted: { code: 130, meaning: 'Interrupted by Ctrl-C.' },
} as const;

export type ExitName = keyof typeof EXIT_CODES;

export function exitCode(name: ExitName): number {
  return EXIT_CODES[name].code;
}

/** Start-up errors that a restart does not fix. */
const REFUSALS: Record<RefusalKind, ExitName> = {
  configuration: 'usage',
  definitions: 'definitions',
  migration: 'migration',
};

export function exitNameOf(error: unknown): ExitName {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 'ok' : 'usage';
  if (error instanceof UsageError || error instanceof ConfigError) return 'usage';
  if (error instanceof StartRefusal) return REFUSALS[error.kind];
  if (error instanceof ServerUnreachable || error instanceof ServerNotUp) return 'unreachable';
  if (error instanceof WaitTimeout) return 'timeout';
  if (error instanceof ProblemError) return exitNameOfStatus(error.status);
  return isConnectionTrouble(error) ? 'unreachable' : 'failed';
}

function exitNameOfStatus(status: number): ExitName {
  switch (status) {
    case 401:
    case 403:
      return 'auth';
    case 404:
      return 'notFound';
    case 409:
      return 'conflict';
    case 400:
    case 413:
    case 415:
    case 422:
      return 'usage';
    case 502:
    case 503:
    case 504:
      return 'unreachable';
    default:
      return 'failed';
  }
}

const CONNECTION_CODES = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'];

/** A server role reports an unreachable database by its own error or a nested one. */
function isConnectionTrouble(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = 'code' in at ? at.code : undefined;
    if (code === 'DATABASE_UNREACHABLE' || CONNECTION_CODES.includes(String(code))) return true;
  }
  return false;
}
