import { TRANSITIONS } from '../../src/core/lifecycle.ts';

/** Moves that the table has and nothing makes yet. */
const NOT_BUILT = /expired|no handler/;

/** Every move that something makes, as `from -> to`. */
export const BUILT_MOVES: readonly string[] = TRANSITIONS.filter(
  ({ why }) => !NOT_BUILT.test(why),
).map(({ from, to }) => `${from} -> ${to}`);
