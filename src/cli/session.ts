import type { Command } from 'commander';
import { Longshore } from '../client/index.ts';
import { loadConfig, type LoadedConfig } from '../config/load.ts';
import type { SettingKey } from '../config/config.ts';
import { SETTINGS } from '../config/schema.ts';
import type { Cli } from './cli.ts';
import { Output } from './text/output.ts';

interface GlobalOptions {
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
}

export function outputOf(cli: Cli, command: Command): Output {
  const { json = false, quiet = false, color = true } = command.optsWithGlobals<GlobalOptions>();
  return new Output({ stdout: cli.stdout, stderr: cli.stderr, json, quiet, color });
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
  return loadConfig({ flags, reader, ...(env && { env }), ...(directory && { directory }) });
}

export function clientOf(cli: Cli, command: Command): Longshore {
  const { url, apiKey, tenant } = configOf(cli, command, 'client').config;
  return new Longshore({ url, apiKey, tenant });
}
