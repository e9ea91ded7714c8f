import type { Cli, StopSignal } from './cli.ts';

/**
 * Ctrl-C in a terminal reaches npm and its script, and npm passes it on to the script. So signals in
 * quick succession are one request: the second one would stop a server at once that is to drain.
 */
const SAME_REQUEST_MS = 1_000;

/** What the process does on a signal. Without a command that cleans up it ends at once. */
export function stopSignals(cli: Cli): (signal: StopSignal) => void {
  let heardMs = Number.NEGATIVE_INFINITY;
  return (signal) => {
    const nowMs = cli.clock.monotonicMs();
    if (nowMs - heardMs < SAME_REQUEST_MS) return;
    heardMs = nowMs;
    if (cli.onSignal) cli.onSignal(signal);
    else cli.exit(signal === 'SIGINT' ? 130 : 143);
  };
}
