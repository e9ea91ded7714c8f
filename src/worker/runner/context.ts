import { format } from 'node:util';
import { type JobContext, type JobLogger, Snooze } from '../../core/define.ts';
import type { FromRunner, RunCommand } from '../ipc.ts';

const SNOOZE_MS_MAX = 366 * 24 * 3_600_000;

/**
 * What a job gets as `ctx`. It says things to the worker and knows nothing of the database. Signal
 * and logger are made when they are asked for, because most tiny jobs never look at them.
 */
export function createContext(
  job: Omit<RunCommand, 'params'>,
  signal: () => AbortSignal,
  send: (message: FromRunner) => void,
): JobContext {
  let logger: JobLogger | undefined;
  return {
    jobId: job.id,
    attempt: job.attempt,
    maxAttempts: job.maxAttempts,
    get abortSignal() {
      return signal();
    },
    get logger() {
      return (logger ??= createLogger((level, message) =>
        send({ type: 'log', claim: job.claim, level, message }),
      ));
    },
    progress(fraction, message) {
      if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
        throw new TypeError(`progress takes a fraction from 0 to 1 (got ${String(fraction)})`);
      }
      const text = message === undefined ? null : String(message).slice(0, 1_000);
      send({ type: 'progress', claim: job.claim, fraction, message: text });
    },
    snooze(delayMs) {
      if (typeof delayMs !== 'number' || !(delayMs >= 0 && delayMs <= SNOOZE_MS_MAX)) {
        throw new TypeError(`snooze takes 0 ms to a year (got ${String(delayMs)})`);
      }
      throw new Snooze(delayMs);
    },
  };
}

/** Pino-shaped: an object of fields may come first, then a message with its arguments. */
function createLogger(write: (level: string, message: string) => void): JobLogger {
  const at =
    (level: string) =>
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
  };
}
