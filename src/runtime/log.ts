import { pino, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** One JSON line per event on stderr: stdout belongs to data that people pipe onwards. */
export function createLog(level: LogLevel, fields: Record<string, unknown> = {}): Log {
  return pino(
    {
      level,
      base: fields,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorWithoutData },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/**
 * The database repeats in its errors what it was given: whole rows in `detail`, the values of a statement
 * in `where`. What jobs carry is not for the log.
 */
function errorWithoutData(error: Error): object {
  const { detail: _detail, where: _where, ...rest } = pino.stdSerializers.err(error);
  return rest;
}

export const silentLog: Log = pino({ level: 'silent' });
