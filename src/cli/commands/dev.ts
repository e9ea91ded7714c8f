import { mkdir } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import type { Cli } from '../cli.ts';
import { eachOf } from '../options/option-values.ts';
import type { Output } from '../text/output.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';
import { definitionLines } from '../text/start-block.ts';
import { watchPaths } from '../watch.ts';
import { configFor, runRole } from './roles.ts';

/**
 * Short, because the developer waits for the new code; longer jobs are interrupted and run again.
 */
const DRAIN_MS = 2_000;

export function addDev(program: Command, cli: Cli): void {
  const command = program
    .command('dev')
    .summary('run everything, and reload jobs on changes')
    .description('Like start, but restarts the worker when a file in the jobs folder changes.')
    .option('--watch <path>', 'also reload on changes here; may be repeated', eachOf)
    .action(async ({ watch = [] }: { watch?: string[] }, self: Command) => {
      const out = outputOf(cli, self);
      const loaded = configOf(cli, self, 'server');
      const config = {
        ...configFor('start', loaded, out),
        ...(loaded.origins.drainMs === 'default' && { drainMs: DRAIN_MS }),
      };
      // Only an existing folder can be watched, and the first job may not be written yet.
      if (extname(config.jobs) === '') await mkdir(config.jobs, { recursive: true });
      await runRole(cli, out, 'start', config, (app) => {
        const reloading = reloader(app, out);
        const watching = watchPaths([config.jobs, ...watch], reloading);
        out.note('', `Watching ${[config.jobs, ...watch].join(', ')}. Ctrl-C stops.`);
        return () => watching.close();
      });
    });
  addServerFlags(command);
}

/** One reload at a time; changes during a reload cause one more. */
function reloader(app: App, out: Output): (file: string) => void {
  let running: Promise<void> | null = null;
  let again: string | null = null;
  const reload = async (file: string): Promise<void> => {
    out.note(`${file} changed: reloading…`);
    const summary = await app.reload?.();
    if (summary) out.note(...definitionLines(summary));
  };
  const changed = (file: string): void => {
    if (running) {
      again = file;
      return;
    }
    running = reload(file)
      .catch((error: unknown) => out.trouble(`could not reload: ${String(error)}`))
      .finally(() => {
        running = null;
        const next = again;
        again = null;
        if (next !== null) changed(next);
      });
  };
  return changed;
}
