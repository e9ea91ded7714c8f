import type { History } from '../history/history.ts';
import { type Facts, factsOf } from './facts.ts';
import type { Violation } from './invariant.ts';
import { INVARIANTS } from './invariants.ts';

export interface Verdict {
  facts: Facts;
  violations: Violation[];
}

/** Pure: the same history always gets the same verdict, on any machine, years later. */
export function check(history: History): Verdict {
  const facts = factsOf(history);
  return { facts, violations: INVARIANTS.flatMap((invariant) => invariant.check(facts)) };
}
