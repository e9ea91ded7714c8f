import { CHILDREN } from './children.ts';

/** What a suspended job waits for: a signal, or the end of other jobs. A scheduled job may sleep. */
export type WaitsFor =
  | { signal: string; jobs?: undefined; sleep?: undefined }
  | { jobs: 'parents' | 'children' | 'batch'; signal?: undefined; sleep?: undefined }
  | { sleep: true; jobs?: undefined; signal?: undefined };

/** `attempt.waits_for` of an attempt that ended with `ctx.sleep`. */
export const SLEEP = ':sleep';

/** The outcome of an attempt that waits for a signal, at most so long, or for its children. */
export type Suspension =
  | { kind: 'suspended'; signal: string; timeoutMs: number; children?: undefined }
  | { kind: 'suspended'; children: true };

/** What is stored of a wait. The end of jobs has no time limit. */
export function waitOf(of: Suspension): { waitsFor: string; delayMs: number | null } {
  if (of.children) return { waitsFor: CHILDREN, delayMs: null };
  return { waitsFor: of.signal, delayMs: of.timeoutMs };
}
