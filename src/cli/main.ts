import { systemClock } from '../runtime/clock.ts';
import type { Cli, StopSignal } from './cli.ts';
import { runCli } from './run.ts';
import { stopSignals } from './stop-signals.ts';

/** Entry point. `bin/longshore.js` has checked the Node version and imports this file. */
const cli: Cli = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  exitCode: 0,
  onSignal: null,
  exit: (code) => process.exit(code),
  loadApp: () => import('../app/app.ts'),
};

const onStopSignal = stopSignals(cli);
for (const signal of ['SIGINT', 'SIGTERM'] satisfies StopSignal[]) process.on(signal, onStopSignal);

// `longshore list | head -1` closes the pipe early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// A server keeps working when its stderr is closed.
process.stderr.on('error', () => {});

const code = await runCli(cli, process.argv.slice(2));
// Flush stdout before exit, and do not wait for leftover handles.
process.stdout.write('', () => process.exit(code));
