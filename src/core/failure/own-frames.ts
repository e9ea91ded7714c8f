/** Frames of Node, packages and Longshore. */
export const FOREIGN_FRAME =
  /node:|node_modules|\/longshore\/(?:src|dist)\/|<anonymous>\)?$|native\)?$/;
/** Longshore in a checkout. */
const BUILT_FRAME = /\/dist\/code-/;

export function framesOf(stack: string): string[] {
  return stack.split('\n', 50).filter((line) => /^\s+at /.test(line));
}

function isOwn(frame: string): boolean {
  return !FOREIGN_FRAME.test(frame) && !BUILT_FRAME.test(frame);
}

/** All frames, if the application's own code has none; otherwise its frames, and how many are between them. */
export function foldedFrames(stack: string): string[] {
  const frames = framesOf(stack);
  if (!frames.some(isOwn)) return frames;
  const folded: string[] = [];
  let hidden = 0;
  for (const frame of [...frames, null]) {
    if (frame !== null && !isOwn(frame)) {
      hidden += 1;
      continue;
    }
    if (hidden > 0) folded.push(`    … ${hidden} library frame${hidden === 1 ? '' : 's'}`);
    hidden = 0;
    if (frame !== null) folded.push(frame);
  }
  return folded;
}

/** The frames of the application's own code, with paths relative to `folder`. */
export function ownFrames(stack: string, folder: string | null): string[] {
  return framesOf(stack)
    .filter(isOwn)
    .map((line) => line.trim().replace('file://', ''))
    .map((line) => (folder === null ? line : line.replace(`${folder}/`, '')));
}
