import { mkdir } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import type { App } from '../../app/app.ts';
import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Cli } from '../cli.ts';
import { eachOf } from '../options/option-values.ts';
import type { Output } from '../text/output.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';
import { definitionLines } from '../text/start-block.ts';
import { watchPaths } from '../project/watch.ts';
import { type Begin, runRole } from './roles.ts';

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
      const config = configOfDev(loaded, out);
      // Only an existing folder can be watched, and the first job may not be written yet.
      if (extname(config.jobs) === '') await mkdir(config.jobs, { recursive: true });
      const paths = [config.jobs, ...watch];
      let reload: ((file: string) => void) | null = null;
      let early: string | null = null;
      // Watches before it says that it is up, so that no change is missed in between.
      const watching = watchPaths(paths, (file) => (reload ? reload(file) : (early = file)));
      const up = (app: App) => {
        reload = reloader(app, out);
        out.note('', `Watching ${paths.join(', ')}. Ctrl-C stops.`);
        if (early !== null) reload(early);
        return () => watching.close();
      };
      const begin: Begin = async (app, log, stop) => await app.startApp(config, 'start', log, stop);
      await runRole(cli, out, 'start', config, begin, up).finally(() => watching.close());
    });
  addServerFlags(command);
}

/** Readable lines, one or two for each job; with --json for programs. */
function configOfDev({ config, origins }: LoadedConfig, out: Output): Config {
  const defaults = {
    drainMs: DRAIN_MS,
    ...(!out.json && { logFormat: 'text', logJobs: 'all+errors+output' }),
  } as const;
  const used = Object.entries(defaults).filter(
    ([key]) => origins[key as keyof typeof defaults] === 'default',
  );
  return { ...config, ...Object.fromEntries(used) };
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
