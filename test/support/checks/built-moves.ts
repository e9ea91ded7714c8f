import { TRANSITIONS } from '../../../src/core/job/transitions.ts';

/** Every move of the table, as `from -> to`: something makes each of them. */
export const BUILT_MOVES: readonly string[] = TRANSITIONS.map(({ from, to }) => `${from} -> ${to}`);
