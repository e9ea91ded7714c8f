import { CommanderError } from 'commander';
import { ProblemError, type ProblemDetail, ServerUnreachable } from '../client/index.ts';
import { ConfigError } from '../config/error.ts';
import type { ExitName } from './exit-codes.ts';
import { exitNameOf } from './exit-codes.ts';
import { printable, printableJson } from '../core/values/printable.ts';
import { startCommand } from './project/start-command.ts';

/** An error in the format of RFC 9457, of the server, the network or the command itself. */
export interface Problem {
  type: string;
  title: string;
  status?: number;
  code: string;
  detail: string;
  errors?: readonly ProblemDetail[];
}

const CODES: Record<ExitName, string> = {
  ok: 'OK',
  failed: 'FAILED',
  usage: 'USAGE',
  notFound: 'NOT_FOUND',
  auth: 'UNAUTHORIZED',
  conflict: 'CONFLICT',
  unreachable: 'UNREACHABLE',
  timeout: 'WAIT_TIMEOUT',
  definitions: 'DEFINITIONS_REFUSED',
  migration: 'MIGRATION_REFUSED',
  interrupted: 'INTERRUPTED',
};

export function problemOf(error: unknown): Problem {
  const detail = wordsOf(error);
  if (error instanceof ProblemError) {
    const { status, code, errors } = error;
    const type = `urn:longshore:error:${code}`;
    return { type, title: code, status, code, detail, ...(errors.length > 0 && { errors }) };
  }
  const code = CODES[exitNameOf(error)];
  const problem = { type: `urn:longshore:error:${code}`, title: code, code, detail };
  if (!(error instanceof ConfigError)) return problem;
  return { ...problem, errors: error.problems.map((line) => ({ pointer: '', detail: line })) };
}

/** The lines printed to stderr for an error. */
export function errorLines(error: unknown, asJson: boolean): string[] {
  if (asJson) return [printableJson(problemOf(error), 2)];
  if (error instanceof ConfigError)
    return error.problems.map((line) => `error: ${printable(line)}`);
  const lines = [`error: ${printable(wordsOf(error))}`];
  if (error instanceof ProblemError) {
    // The first violations are already part of the message.
    const unsaid = error.errors.filter(
      ({ pointer, detail }) => !error.detail.includes(`${pointer}: ${detail}`),
    );
    lines.push(...unsaid.map(({ pointer, detail }) => printable(`  ${pointer}: ${detail}`)));
  }
  if (error instanceof ServerUnreachable) {
    lines.push(
      `Is the server running? Start one with ${startCommand(process.cwd())}, ` +
        'or set --url or LONGSHORE_URL.',
    );
  }
  return lines;
}

/** Commander puts a suggestion on a separate line. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CommanderError) {
    return error.message
      .replace(/^error: /, '')
      .replace(/\n\(Did you mean (.*)\?\)$/, ': did you mean $1?');
  }
  return error.message;
}
