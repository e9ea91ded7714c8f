/** Looked up before a job can close them. */
const STREAMS = [process.stdout, process.stderr];

/**
 * Unread output waits inside the process or thread and would appear under the next job. So an
 * outcome is sent after all output has been written.
 */
export function afterOutput(then: () => void): void {
  const full = STREAMS.find(({ writable, writableLength }) => writable && writableLength > 0);
  if (full) full.write('', () => afterOutput(then));
  else then();
}
