/** Frames of Node, packages and Longshore. */
export const FOREIGN_FRAME =
  /node:|node_modules|\/longshore\/(?:src|dist)\/|<anonymous>\)?$|native\)?$/;
/** Longshore in a checkout. */
const BUILT_FRAME = /\/dist\/code-/;

export function framesOf(stack: string): string[] {
  return stack.split('\n', 50).filter((line) => /^\s+at /.test(line));
}

/** The frames of the application's own code, with paths relative to `folder`. */
export function ownFrames(stack: string, folder: string | null): string[] {
  return framesOf(stack)
    .filter((line) => !FOREIGN_FRAME.test(line) && !BUILT_FRAME.test(line))
    .map((line) => line.trim().replace('file://', ''))
    .map((line) => (folder === null ? line : line.replace(`${folder}/`, '')));
}
