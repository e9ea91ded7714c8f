import { CommanderError } from 'commander';
import { ProblemError, ServerUnreachable, WaitTimeout } from '../client/index.ts';
import { ConfigError } from '../config/error.ts';
import { type RefusalKind, StartRefusal } from '../runtime/start-refusal.ts';
import { UsageError } from './options/usage-error.ts';

/** What the exit code of every command means; docs/cli.md is held to this table by a test. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'All went well.' },
  failed: { code: 1, meaning: 'The job, or the operation, failed.' },
  usage: { code: 2, meaning: 'The command, its input or the configuration is wrong.' },
  notFound: { code: 3, meaning: 'There is no such job, worker or definition.' },
  auth: { code: 4, meaning: 'The server does not allow it to you.' },
  conflict: { code: 5, meaning: 'Its state does not allow it.' },
  unreachable: { code: 6, meaning: 'The server, or its database, cannot be reached.' },
  timeout: { code: 7, meaning: 'The time to wait was over first; the job goes on.' },
  definitions: { code: 8, meaning: 'The server ended: its definitions cannot be loaded.' },
  migration: { code: 9, meaning: 'The server ended: the migration of its database was refused.' },
  interrupted: { code: 130, meaning: 'Ended by Ctrl-C.' },
} as const;

export type ExitName = keyof typeof EXIT_CODES;

export function exitCode(name: ExitName): number {
  return EXIT_CODES[name].code;
}

/** What a restart of a server cannot fix. */
const REFUSALS: Record<RefusalKind, ExitName> = {
  configuration: 'usage',
  definitions: 'definitions',
  migration: 'migration',
};

export function exitNameOf(error: unknown): ExitName {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 'ok' : 'usage';
  if (error instanceof UsageError || error instanceof ConfigError) return 'usage';
  if (error instanceof StartRefusal) return REFUSALS[error.kind];
  if (error instanceof ServerUnreachable) return 'unreachable';
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

/** A server role that cannot reach its database says so by its own error, or by one below it. */
function isConnectionTrouble(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const code = 'code' in at ? at.code : undefined;
    if (code === 'DATABASE_UNREACHABLE' || CONNECTION_CODES.includes(String(code))) return true;
  }
  return false;
}
