/** Looked up before any job can close what is behind them. */
const STREAMS = [process.stdout, process.stderr];

/**
 * What a job writes waits inside its process or thread while nobody reads it, and would come out
 * under the name of the next job. So an outcome is told when all of it is out.
 */
export function afterOutput(then: () => void): void {
  const full = STREAMS.find(({ writable, writableLength }) => writable && writableLength > 0);
  if (full) full.write('', () => afterOutput(then));
  else then();
}
