import type { Facts } from './facts.ts';

/** A history that breaks a promise, in one sentence that says where to look. */
export interface Violation {
  invariant: string;
  job?: string;
  text: string;
}

/**
 * One promise as a pure function over a history. A new one is a file with one of these, a line in
 * `invariants.ts`, and a test that feeds it a history in which the promise is broken.
 */
export interface Invariant {
  id: string;
  promise: string;
  check(facts: Facts): Violation[];
}

/** Puts the name of the invariant to what its check found. */
export function invariant(
  id: string,
  promise: string,
  find: (facts: Facts) => Iterable<Omit<Violation, 'invariant'>>,
): Invariant {
  return {
    id,
    promise,
    check: (facts) => [...find(facts)].map((found) => ({ invariant: id, ...found })),
  };
}

export function ms(micros: number): string {
  return `${Math.round(micros / 1_000)} ms`;
}
