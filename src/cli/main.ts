import { systemClock } from '../runtime/clock.ts';
import type { Cli, StopSignal } from './cli.ts';
import { runCli } from './run.ts';

/** The program itself. `bin/longshore.js` has checked the version of Node and imports this file. */
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

for (const signal of ['SIGINT', 'SIGTERM'] satisfies StopSignal[]) {
  process.on(signal, () => {
    if (cli.onSignal) cli.onSignal(signal);
    else process.exit(signal === 'SIGINT' ? 130 : 143);
  });
}

// `longshore list | head -1` closes the pipe early, which is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// A server goes on with its work when nobody reads its words any more.
process.stderr.on('error', () => {});

const code = await runCli(cli, process.argv.slice(2));
// A pipe takes what was written in its own time; a forgotten handle must not keep us from ending.
process.stdout.write('', () => process.exit(code));
