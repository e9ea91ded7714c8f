import type { JobLogger } from '../../../core/definition/define.ts';
import type { Level } from '../../../core/views/history.ts';

/** Like pino: an optional object of fields, then a message with its arguments. */
export function createLogger(write: (level: Level, message: string) => void): JobLogger {
  return {
    trace: (...args) => write('trace', textOf(args)),
    debug: (...args) => write('debug', textOf(args)),
    info: (...args) => write('info', textOf(args)),
    warn: (...args) => write('warn', textOf(args)),
    error: (...args) => write('error', textOf(args)),
    fatal: (...args) => write('fatal', textOf(args)),
  };
}

function textOf(args: readonly unknown[]): string {
  // Most processes log nothing, and loading it takes 2 ms.
  const { format } = process.getBuiltinModule('node:util');
  const [first, ...rest] = args;
  const fieldsFirst = typeof first === 'object' && first !== null && rest.length > 0;
  return fieldsFirst ? `${format(...rest)} ${format('%j', first)}` : format(...args);
}
