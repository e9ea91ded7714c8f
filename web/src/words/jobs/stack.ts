/** A stretch of a stack: frames of the team's own code, or of what it stands on. */
export interface Stretch {
  own: boolean;
  lines: string[];
}

const FRAME = /^\s*at /;
/** Libraries, Node, and the part of Longshore that calls the job. */
const FOREIGN = /node_modules|\bnode:|<anonymous>$|\/src\/worker\/runner\//;

/** The own frames are read, the others are counted and unfolded on demand. */
export function foldStack(stack: string): Stretch[] {
  const stretches: Stretch[] = [];
  for (const line of stack.split('\n').filter((one) => FRAME.test(one))) {
    const own = !FOREIGN.test(line);
    const last = stretches.at(-1);
    if (last?.own === own) last.lines.push(line.trim());
    else stretches.push({ own, lines: [line.trim()] });
  }
  return stretches;
}
