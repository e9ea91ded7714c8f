import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Entrypoint, ModuleExport } from '../../core/artifact/entrypoint.ts';
import { type ManifestDefinition, manifestOf } from '../../core/artifact/manifest.ts';
import { resolveEntrypoints } from '../../core/artifact/resolve-entrypoints.ts';
import { branded, isJobDefinition, type JobDefinition } from '../../core/definition/define.ts';
import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { shapeAfter } from '../../core/shape/upgrade.ts';
import type { DeploymentPlan } from '../ipc.ts';
import { firstLines, type Loaded } from './loaded.ts';

/** Loads the definitions of a deployment from its unpacked folder. */
export async function loadDeployment(root: string, plan: DeploymentPlan): Promise<Loaded> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const manifest = resolveEntrypoints(manifestOf(plan.manifest), new Set(files));
  const definitions: JobDefinition[] = [];
  const problems: string[] = [];
  for (const one of manifest.definitions) {
    try {
      definitions.push(await load(root, one, plan.number));
    } catch (error) {
      problems.push(`${one.info.key}: ${firstLines(error)}`);
    }
  }
  return { definitions, problems };
}

async function load(
  root: string,
  { info, entrypoint }: ManifestDefinition,
  version: number,
): Promise<JobDefinition> {
  const placed = { ...info, version, command: commandIn(root, info, entrypoint) };
  const at = entrypoint.runtime === 'node' ? entrypoint : entrypoint.definition;
  if (at === null) return checked(branded({ info: placed, schema: null, hooks: {}, run: notHere }));
  const value = await exported(root, at);
  if (isJobDefinition(value)) {
    if ((value.info.group === null) !== (info.group === null)) {
      throw new Error(`longshore.json and the code disagree whether its jobs run in groups`);
    }
    const { schema, run, hooks, upgrades } = value;
    return checked(branded({ info: placed, schema, run, hooks, upgrades }));
  }
  if (typeof value === 'function') {
    const run = value as JobDefinition['run'];
    return checked(branded({ info: placed, schema: null, hooks: {}, run }));
  }
  const what = value === undefined ? 'exports no' : 'exports neither a function nor a job as';
  throw new Error(`${at.module} ${what} ${at.export}`);
}

/** Jobs are stored with the shape of the manifest, so the code must have the same. */
function checked(definition: JobDefinition): JobDefinition {
  const { paramsShape, upgrades } = definition;
  const shape = shapeAfter(upgrades);
  if (shape === paramsShape) return definition;
  throw new Error(
    `longshore.json says shape ${paramsShape} of the params, and the code upgrades them to ${shape}`,
  );
}

async function exported(root: string, { module, export: name }: ModuleExport): Promise<unknown> {
  const url = pathToFileURL(join(root, module)).href;
  const loaded = (await import(url)) as Record<string, unknown>;
  if (Object.hasOwn(loaded, name)) return loaded[name];
  // The exports of a CommonJS module that Node does not recognize are properties of the default.
  const whole = loaded['default'];
  return typeof whole === 'object' && whole !== null
    ? (whole as Record<string, unknown>)[name]
    : undefined;
}

function commandIn(
  root: string,
  { command }: DefinitionInfo,
  entrypoint: Entrypoint,
): DefinitionInfo['command'] {
  if (!command || entrypoint.runtime !== 'command') return null;
  return { argv: entrypoint.argv, cwd: join(root, entrypoint.cwd ?? '.') };
}

function notHere(): never {
  throw new Error('a command runs in a worker; run cannot be called');
}
