import { CHILDREN } from './children.ts';

/** What a suspended job waits for: a signal, or the end of other jobs. */
export type WaitsFor =
  | { signal: string; jobs?: undefined }
  | { jobs: 'parents' | 'children' | 'batch'; signal?: undefined };

/** The outcome of an attempt that waits for a signal, at most so long, or for its children. */
export type Suspension =
  | { kind: 'suspended'; signal: string; timeoutMs: number; children?: undefined }
  | { kind: 'suspended'; children: true };

/** What is stored of a wait. The end of jobs has no time limit. */
export function waitOf(of: Suspension): { waitsFor: string; delayMs: number | null } {
  if (of.children) return { waitsFor: CHILDREN, delayMs: null };
  return { waitsFor: of.signal, delayMs: of.timeoutMs };
}
