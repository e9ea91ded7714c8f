import { createContext, Script } from 'node:vm';

const room = createContext();
const script = new Script('work()');

/**
 * Runs work that cannot be interrupted by anything else on this thread, and ends it when it takes
 * too long. Throws then, as it does when the work throws. It costs about half a millisecond, so it
 * is for what may be slow.
 */
export function withTimeLimit<T>(limitMs: number, work: () => T): T {
  const results: T[] = [];
  room['work'] = () => void results.push(work());
  try {
    script.runInContext(room, { timeout: limitMs });
  } finally {
    room['work'] = null;
  }
  return results[0] as T;
}

/** The error may be of the other room, where `Error` is another one. */
export function isTimeout(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
