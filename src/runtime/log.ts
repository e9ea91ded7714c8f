import { pino, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** One JSON line per event on stderr, or what `lineText` makes of it; stdout is for data. */
export function createLog(
  level: LogLevel,
  fields: Record<string, unknown> = {},
  lineText: ((line: string) => string) | null = null,
): Log {
  const stderr = pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level,
      base: fields,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorWithoutData },
    },
    lineText === null ? stderr : { write: (line) => stderr.write(lineText(line)) },
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
