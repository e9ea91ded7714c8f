import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseOptions, USAGE, UsageError } from './harness/options.ts';

/**
 * `npm run bench`: Longshore beside its peers, on one PostgreSQL, in one run. README.md says how to
 * repeat it and what is measured.
 */

const here = fileURLToPath(new URL('.', import.meta.url));

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  // The peers are no dependency of the product, so they are installed here, and only when needed.
  // npm writes this file when it is done: half an installation is not taken for a whole one.
  if (!existsSync(`${here}node_modules/.package-lock.json`)) {
    process.stderr.write('installing the peers (npm ci --prefix bench)\n');
    const args = ['ci', '--prefix', here, '--loglevel', 'error'];
    const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) return 1;
  }
  const { listing, runBench } = await import('./harness/run.ts');
  if (options.list) {
    process.stdout.write(listing());
    return 0;
  }
  const stop = new AbortController();
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(130);
    process.stderr.write('\nstopping (again to stop at once)\n');
    stop.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const complete = await runBench(options, stop.signal);
  if (stop.signal.aborted) return 130;
  return complete ? 0 : 1;
}

try {
  // Open timers, such as the time limit of a step, must not delay the end.
  process.exit(await main());
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}\n`);
  process.exit(2);
}
