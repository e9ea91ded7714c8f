import { systemClock } from '../runtime/clock.ts';
import { stopRequests } from '../runtime/stop-signals.ts';
import type { Cli } from './cli.ts';
import { runCli } from './run.ts';

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

const onSignal = stopRequests(cli.clock, (signal) => {
  if (cli.onSignal) cli.onSignal(signal);
  else process.exit(signal === 'SIGINT' ? 130 : 143);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);

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
