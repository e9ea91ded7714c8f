import { createContext, Script } from 'node:vm';

const room = createContext();
const script = new Script('work()');

/**
 * Runs synchronous work with a timeout, and throws when it takes too long. It costs about half a
 * millisecond, so use it for potentially slow work only.
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

/** The error may come from another realm, so `instanceof Error` does not work. */
export function isTimeout(error: unknown): boolean {
  const { code } = Object(error) as { code?: unknown };
  return code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
