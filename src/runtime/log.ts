import { isatty } from 'node:tty';
import { pino, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

const STDERR_FD = 2;

/**
 * One JSON line per event on stderr, or what `lineText` makes of it; stdout is for data. A child
 * whose parent is gone writes nothing to a terminal: its user is back at the prompt.
 */
export function createLog(
  level: LogLevel,
  fields: Record<string, unknown> = {},
  lineText: ((line: string) => string) | null = null,
): Log {
  const stderr = pino.destination({ dest: STDERR_FD, sync: true });
  const isChildAtTerminal = process.connected && isatty(STDERR_FD);
  const write = (line: string): void => {
    if (isChildAtTerminal && !process.connected) return;
    stderr.write(lineText === null ? line : lineText(line));
  };
  return pino(
    {
      level,
      base: fields,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorWithoutData },
    },
    lineText === null && !isChildAtTerminal ? stderr : { write },
  );
}

/**
 * Database errors repeat input: whole rows in `detail`, statement values in `where`. The data of
 * jobs must not reach the log.
 */
function errorWithoutData(error: Error): object {
  const { detail: _detail, where: _where, ...rest } = pino.stdSerializers.err(error);
  return rest;
}

export const silentLog: Log = pino({ level: 'silent' });
