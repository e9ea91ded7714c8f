import type { Mix } from '../load/requests.ts';
import type { Deck } from '../plan.ts';

/** A piece of a source file of the product, and what stands there instead. */
export interface Change {
  /** Below `src/`. */
  file: string;
  /** Must occur exactly once. */
  find: string;
  replace: string;
}

/** The product with one mistake in it, of the kind that people make. */
export interface Mutant {
  name: string;
  /** What is wrong with it, and where the like was seen. */
  mistake: string;
  changes: readonly Change[];
  /** Which invariants may notice; one of them must. */
  caughtBy: readonly string[];
  /** What strikes while the servers start. */
  startUp?: Deck;
  /** Whether it only shows in a `longshore start`, which has its worker in a process below it. */
  server?: boolean;
  /** The faults that bring it to light, for a short run. */
  deck: Deck;
  /** What jobs do that it takes, beside the usual. */
  mix?: Mix;
  /** Whether it only shows while something stays broken. */
  liveness?: boolean;
  /** How many of the workers get their jobs over HTTP, if it only shows with those. */
  remotes?: number;
  /** How many deployments are made, if it only shows with those. */
  deploys?: number;
  /** Whether it only shows with workers that beat in Redis. */
  redis?: boolean;
}
