import { pino, type Logger } from 'pino';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** One JSON line per event on stderr: stdout belongs to data that people pipe onwards. */
export function createLog(level: LogLevel, fields: Record<string, unknown> = {}): Log {
  return pino(
    { level, base: fields, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}

export const silentLog: Log = pino({ level: 'silent' });
