import type { StreamView } from '../../../../src/core/views/history.ts';
import { plainText } from './log-tail.ts';

/** The live output of a job: the end of its text. */
export interface OutputTail {
  text: string;
  attempt: number;
  lastId: string | undefined;
  /** Characters that are left out at the beginning. */
  dropped: number;
}

export const OUTPUT_MAX = 200_000;
export const NO_OUTPUT: OutputTail = { text: '', attempt: 0, lastId: undefined, dropped: 0 };

/** An entry without text begins the output again. */
export function appendOutput(tail: OutputTail, { id, attempt, text }: StreamView): OutputTail {
  if (text === null) return { text: '', attempt, lastId: id, dropped: 0 };
  const all = tail.text + plainText(text);
  const excess = Math.max(0, all.length - OUTPUT_MAX);
  return { text: all.slice(excess), attempt, lastId: id, dropped: tail.dropped + excess };
}
