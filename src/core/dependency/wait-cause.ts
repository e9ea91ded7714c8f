import { BATCH_OPEN } from '../batch/batch.ts';
import { CHILDREN } from './children.ts';
import { PARENTS } from './dependency.ts';

/**
 * What suspended jobs wait for, by `waiting.waits_for`: a text that begins with a colon, or the name of a
 * signal (null). All signals are one cause, because jobs choose their names.
 */
export const WAIT_CAUSES = {
  signal: null,
  parents: PARENTS,
  children: CHILDREN,
  batch: BATCH_OPEN,
} as const;

export type WaitCause = keyof typeof WAIT_CAUSES;
