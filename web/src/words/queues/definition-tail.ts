import type { DefinitionLogView } from '../../../../src/core/views/history.ts';

/** The newest lines of all jobs of a definition, and the number of earlier ones dropped. */
export interface DefinitionTail {
  lines: readonly DefinitionLogView[];
  dropped: number;
}

const LINES_MAX = 2_000;

/** A reopened stream repeats the lines of the last seconds, with the same ids. */
export function appendTail(
  { lines, dropped }: DefinitionTail,
  more: readonly DefinitionLogView[],
  max = LINES_MAX,
): DefinitionTail {
  const known = new Set(lines.map(({ id }) => id));
  const all = [...lines, ...more.filter(({ id }) => !known.has(id))];
  const excess = Math.max(0, all.length - max);
  return { lines: all.slice(excess), dropped: dropped + excess };
}
