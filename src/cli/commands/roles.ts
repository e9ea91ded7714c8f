import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { App, RemoteServer, Role } from '../../app/app.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Config } from '../../config/config.ts';
import { ownEnvironment } from '../../config/environment.ts';
import type { AppModule, Cli } from '../cli.ts';
import { exitCode } from '../exit-codes.ts';
import type { Output } from '../text/output.ts';
import { leaveAddress } from '../project/server-address.ts';
import { configOf, outputOf } from '../session.ts';
import { addServerFlags } from '../options/setting-options.ts';
import type { Log } from '../../runtime/log.ts';
import { withNpmHint } from '../project/npm-script.ts';
import { type RunningRole, startBlock } from '../text/start-block.ts';

const ROLES: readonly { role: Role; summary: string; description: string }[] = [
  {
    role: 'start',
    summary: 'run everything',
    description:
      'Run the API, a worker and the scheduler, with an embedded PostgreSQL unless DATABASE_URL is set.',
  },
  {
    role: 'api',
    summary: 'run the HTTP API only',
    description: 'Run the HTTP API. Workers and a scheduler run separately on the same database.',
  },
  {
    role: 'worker',
    summary: 'run a worker only',
    description: 'Run a worker: it claims jobs and runs each in its own process.',
  },
  {
    role: 'scheduler',
    summary: 'run the scheduler only',
    description: 'Run the scheduler: it queues due jobs and recovers jobs of lost workers.',
  },
];

export function addRoles(program: Command, cli: Cli): void {
  for (const { role, summary, description } of ROLES) {
    const command = program
      .command(role)
      .summary(summary)
      .description(description)
      .action(async (_options: unknown, self: Command) => {
        const out = outputOf(cli, self);
        const config = configFor(role, configOf(cli, self, 'server'), out);
        const remote = remoteServer(cli, self, role);
        await runRole(cli, out, role, config, async (app, log, stop) =>
          remote === null
            ? await app.startApp(config, role, log, stop)
            : await app.startRemoteWorker(config, remote, log, stop),
        );
      });
    addServerFlags(command);
  }
}

export function configFor(role: Role, { config, origins }: LoadedConfig, out: Output): Config {
  // On a terminal, `start` prints warnings and errors only.
  const calm = role === 'start' && out.isTerminal && origins.logLevel === 'default';
  return calm ? Object.freeze({ ...config, logLevel: 'warn' }) : config;
}

/** Starts a role; the signal ends the start. */
export type Begin = (app: AppModule, log: Log, stop: AbortSignal) => Promise<App>;

/**
 * A worker with `--url` gets its jobs over HTTP. The variable LONGSHORE_URL counts only without
 * DATABASE_URL, because it also serves the other commands.
 */
function remoteServer(cli: Cli, command: Command, role: Role): RemoteServer | null {
  if (role !== 'worker') return null;
  const { config, origins } = configOf(cli, command, 'client');
  const isFlag = origins.url === 'flag --url';
  if (origins.url === 'default' || (!isFlag && config.databaseUrl !== null)) return null;
  return { url: config.url, key: config.apiKey };
}

/**
 * Runs a role until it is asked to stop. `up` starts an extra task beside it and returns its stop
 * function.
 */
export async function runRole(
  cli: Cli,
  out: Output,
  role: RunningRole,
  config: Config,
  begin: Begin,
  up: (app: App) => () => void = () => () => undefined,
): Promise<void> {
  const hasJobs = role !== 'api' && role !== 'scheduler';
  const stop = stopRequest(cli, out, hasJobs ? config.drainMs : 0);
  // The rest takes seconds.
  if (out.isTerminal || config.logFormat === 'text') out.note('Longshore is starting…');
  const { createLog } = await import('../../runtime/log.ts');
  const { lineTextOf } = await import('../../signals/log-text.ts');
  const loaded = await cli.loadApp();
  const log = createLog(config.logLevel, { role }, lineTextOf(config.logFormat));
  const app = await begin(loaded, log, stop).catch((error: unknown) => {
    // A stop during start-up is a success.
    if (stop.aborted) return null;
    throw withNpmHint(error, cli.env ?? ownEnvironment());
  });
  if (app === null) return;
  announce(out, role, app);
  const { address } = app.summary;
  const isFound = address !== null && config.databaseUrl === null;
  const forget = isFound ? leaveAddress(resolve(config.data), address) : () => undefined;
  const down = up(app);
  await Promise.race([aborted(stop), ...(app.drainAsked ? [app.drainAsked] : [])]);
  down();
  forget();
  await app.stop();
  out.note('Stopped');
}

function announce(out: Output, role: RunningRole, app: App): void {
  if (out.json) out.document({ role, ...app.summary });
  else out.note(...startBlock(role, app.summary));
}

/** The first signal drains, also during start-up; the second one exits at once. */
function stopRequest(cli: Cli, out: Output, drainMs: number): AbortSignal {
  const stop = new AbortController();
  cli.onSignal = () => {
    const limit = drainMs > 0 ? ` running jobs have ${drainMs / 1_000} s` : '';
    out.note(`Draining…${limit} (again to stop at once)`);
    cli.onSignal = (second) => cli.exit(second === 'SIGINT' ? exitCode('interrupted') : 143);
    stop.abort();
  };
  return stop.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
