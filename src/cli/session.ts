import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { Longshore } from '../client/index.ts';
import { loadConfig, type LoadedConfig } from '../config/load.ts';
import type { SettingKey } from '../config/config.ts';
import { SETTINGS } from '../config/schema.ts';
import type { Cli } from './cli.ts';
import { findAddress, ServerNotUp } from './project/server-address.ts';
import { Output } from './text/output.ts';

interface GlobalOptions {
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
  url?: string;
  tenant?: string;
}

export function outputOf(cli: Cli, command: Command): Output {
  const options = command.optsWithGlobals<GlobalOptions>();
  const { json = false, quiet = false, color = true, url, tenant } = options;
  const { stdout, stderr } = cli;
  return new Output({ stdout, stderr, json, quiet, color, given: { url, tenant } });
}

/** Configuration with the command's flags first, then environment, file and defaults. */
export function configOf(cli: Cli, command: Command, reader: 'server' | 'client'): LoadedConfig {
  const options = command.optsWithGlobals<Record<string, unknown>>();
  const flags: Partial<Record<SettingKey, string>> = {};
  for (const { key } of SETTINGS) {
    const value = options[key];
    if (typeof value === 'string') flags[key] = value;
  }
  const { env, directory } = cli;
  const loaded = loadConfig({
    flags,
    reader,
    ...(env && { env }),
    ...(directory && { directory }),
  });
  return reader === 'client' ? withFoundServer(loaded, directory) : loaded;
}

/** Where no address is configured, that of the server of this project. */
function withFoundServer(loaded: LoadedConfig, directory = process.cwd()): LoadedConfig {
  const { config, origins } = loaded;
  const settings = [origins.url, origins.host, origins.port];
  if (settings.some((origin) => origin !== 'default')) return loaded;
  const url = findAddress(resolve(directory, config.data));
  return url === null ? loaded : { config: Object.freeze({ ...config, url }), origins };
}

/**
 * Where the project has a database of its own, its server is meant. While that is down, the default
 * address may be the server of another project.
 */
function refuseForeignServer({ config, origins }: LoadedConfig, directory = process.cwd()) {
  const named = [origins.url, origins.host, origins.port, origins.databaseUrl];
  if (named.some((origin) => origin !== 'default')) return;
  const data = resolve(directory, config.data);
  if (findAddress(data) === null && existsSync(join(data, 'pg')))
    throw new ServerNotUp(data, directory);
}

const told = new WeakSet<Cli>();

/** Says once which server is meant if nothing here names it: it may be that of another project. */
function nameServer(cli: Cli, command: Command, { config, origins }: LoadedConfig): void {
  const settings = [origins.url, origins.host, origins.port, origins.databaseUrl];
  if (settings.some((origin) => origin !== 'default') || told.has(cli)) return;
  if (findAddress(resolve(cli.directory ?? process.cwd(), config.data)) !== null) return;
  told.add(cli);
  const why = 'the default, because this folder has no server of its own; --url names another';
  outputOf(cli, command).note(`Server: ${config.url} (${why}).`);
}

/** The configuration of a command that talks to a server. */
export function serverOf(cli: Cli, command: Command): LoadedConfig {
  const loaded = configOf(cli, command, 'client');
  refuseForeignServer(loaded, cli.directory);
  nameServer(cli, command, loaded);
  return loaded;
}

export function clientOf(cli: Cli, command: Command): Longshore {
  const loaded = serverOf(cli, command);
  const { url, apiKey, tenant } = loaded.config;
  // A person wants to know at once that a server is not there; a script outlasts its restart.
  const isPerson = 'isTTY' in cli.stderr && cli.stderr.isTTY === true;
  return new Longshore({ url, apiKey, tenant, ...(isPerson && { retries: 1 }) });
}
