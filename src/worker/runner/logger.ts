import { format } from 'node:util';
import type { JobLogger } from '../../core/definition/define.ts';
import type { Level } from '../../core/views/history.ts';

/** Like pino: an optional object of fields, then a message with its arguments. */
export function createLogger(write: (level: Level, message: string) => void): JobLogger {
  const at =
    (level: Level) =>
    (...args: unknown[]) => {
      const [first, ...rest] = args;
      const fieldsFirst = typeof first === 'object' && first !== null && rest.length > 0;
      write(level, fieldsFirst ? `${format(...rest)} ${format('%j', first)}` : format(...args));
    };
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
  };
}
