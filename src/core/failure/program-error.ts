/** A line that says what went wrong, as Python, Node, Java, Ruby, Go and shells write it. */
const NAMES_ERROR =
  /^(?:Uncaught |Caused by: |Exception in thread )?(?:[\w.$"-]*(?:Error|Exception|Interrupt)\b|(?:panic|fatal|error)\b)/i;

/**
 * Why a program ended with an exit code, from its last lines on stderr. The first line names the
 * error, because lists show that line only; programs write it after a traceback or before a stack.
 */
export function programError(exitCode: number, lastLines: string): string {
  const exit = `the command exited with code ${exitCode}`;
  const lines = lastLines.split('\n').filter((line) => line.trim() !== '');
  const headline = lines.findLast((line) => NAMES_ERROR.test(line)) ?? lines.at(-1);
  if (headline === undefined) return exit;
  return `${exit}: ${headline.trim()}${lines.length > 1 ? `\n\n${lastLines}` : ''}`;
}
