/** Consecutive frames of own code or of libraries. */
export interface Stretch {
  own: boolean;
  lines: string[];
}

const FRAME = /^\s*at /;
/** Frames of libraries, Node.js and Longshore itself. */
const FOREIGN =
  /node_modules|\bnode:|<anonymous>$|\/(?:src|dist\/[^/]+)\/worker\/runner\/|\/dist\/code-|\/longshore\/(?:src|dist)\//;

/** Own frames are shown; others are collapsed. */
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
