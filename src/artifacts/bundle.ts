import { fork } from 'node:child_process';
import { copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, posix, relative, resolve, sep } from 'node:path';
import { manifestFields } from '../core/artifact/manifest-fields.ts';
import { MANIFEST_FILE, type Manifest, manifestOf } from '../core/artifact/manifest.ts';
import { resolveEntrypoints } from '../core/artifact/resolve-entrypoints.ts';
import type { Entrypoint } from '../core/artifact/entrypoint.ts';
import { isDefinitionFile } from '../core/definition/definition-file.ts';
import { programFile, providedModules } from '../runtime/code.ts';
import { DeadlineExceeded, withDeadline } from '../runtime/deadline.ts';
import { BundleError, buildModules, type loadRolldown } from './bundle/build-modules.ts';
import type { FoundDefinition, LoadReport, LoadRequest } from './bundle/load-bundle.ts';

export { BundleError } from './bundle/build-modules.ts';

export interface BundleOptions {
  /** A folder with definitions, as `longshore worker --jobs` takes it, or one file. */
  jobs: string;
  /** A new folder for the bundle. `packFolder` makes an archive of it. */
  out: string;
  app?: string | null;
  /** Packages that are installed on the workers and must not be in the bundle. */
  external?: readonly string[];
  load?: typeof loadRolldown;
}

export interface Bundle {
  manifest: Manifest;
  warnings: string[];
}

/**
 * Bundles the definitions of a folder with their packages, and all files of the folder that are not
 * code. Then it loads the bundle, as a worker will, and writes the manifest. The same sources give
 * the same bundle, wherever they are.
 */
export async function bundleJobs(options: BundleOptions): Promise<Bundle> {
  const { jobs, out, app = null, external = [], load } = options;
  const { root, code, assets } = await sourcesOf(jobs);
  const entries = entriesOf(root, code);
  await mkdir(out, { recursive: true });
  if ((await readdir(out)).length > 0) throw new BundleError(`${out} is not empty`);
  const warnings = await buildModules({ root, entries, external, out, ...(load && { load }) });
  for (const path of assets) await copyAsset(join(root, path), join(out, path));
  const modules = Object.keys(entries).map((name) => `${name}.mjs`);
  const report = await loadBundle({ folder: out, modules, provided: providedModules() });
  if (report.problems.length > 0) throw new BundleError(report.problems.join('\n'));
  if (report.definitions.length === 0) {
    throw new BundleError(`${jobs} exports no job made by defineJob or defineCommand`);
  }
  for (const module of report.empty) warnings.push(`${module} exports no job`);
  const definitions = report.definitions.map((found) => ({
    info: found.info,
    entrypoint: entrypointOf(found),
  }));
  const fields = manifestFields({ app, runtime: 'node', definitions });
  await writeFile(join(out, MANIFEST_FILE), `${JSON.stringify(fields, null, 2)}\n`);
  const files = new Set([...modules, ...assets]);
  return { manifest: resolveEntrypoints(manifestOf(fields), files), warnings };
}

interface Sources {
  root: string;
  /** Absolute. */
  code: string[];
  /** Relative to the root. */
  assets: string[];
}

async function sourcesOf(jobs: string): Promise<Sources> {
  const path = resolve(jobs);
  const found = await stat(path).catch(() => null);
  if (!found) throw new BundleError(`${jobs}: no such file or folder`);
  if (found.isFile()) return { root: dirname(path), code: [path], assets: [] };
  const names: string[] = [];
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    const name = relative(path, join(entry.parentPath, entry.name)).replaceAll(sep, '/');
    if (entry.isFile() && !LEFT_OUT.test(name)) names.push(name);
  }
  names.sort();
  if (names.includes(MANIFEST_FILE)) {
    throw new BundleError(`${MANIFEST_FILE} is made by the bundle: rename the one in ${jobs}`);
  }
  return {
    root: path,
    code: names.filter(isDefinitionFile).map((name) => join(path, name)),
    assets: names.filter((name) => !IS_CODE.test(name)),
  };
}

/** Packages are bundled; hidden files are for the machine of the developer. */
const LEFT_OUT = /(^|\/)(\.|node_modules(\/|$))/;
/** Code is in the bundle if a definition imports it. */
const IS_CODE = /\.[cm]?[jt]sx?$/;

function entriesOf(root: string, files: readonly string[]): Record<string, string> {
  const entries: Record<string, string> = {};
  for (const file of files) {
    const path = relative(root, file).replaceAll(sep, '/');
    const name = path.slice(0, -extname(path).length);
    const other = entries[name];
    if (other !== undefined) {
      throw new BundleError(`${path} and ${basename(other)} have the same name in the bundle`);
    }
    entries[name] = file;
  }
  if (files.length === 0) throw new BundleError(`${root} has no file with definitions`);
  return entries;
}

async function copyAsset(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}

function entrypointOf({ module, export: name, info }: FoundDefinition): Entrypoint {
  if (!info.command) return { runtime: 'node', module, export: name };
  const { argv, cwd } = info.command;
  const folder = posix.join(posix.dirname(module), cwd ?? '.');
  if (folder.startsWith('..') || (cwd !== null && posix.isAbsolute(cwd))) {
    throw new BundleError(`${info.key}: its folder ${cwd} is not in the bundle`);
  }
  const definition = { module, export: name };
  return { runtime: 'command', argv, cwd: folder === '.' ? null : folder, definition };
}

/** A module may wait for something at its top that never comes. */
const LOAD_MS_MAX = 60_000;

async function loadBundle(request: LoadRequest): Promise<LoadReport> {
  const child = fork(programFile('artifacts/bundle/load-bundle'), [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ['--enable-source-maps'],
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-2_000);
  });
  const report = new Promise<LoadReport>((resolve, reject) => {
    child.once('error', reject);
    child.once('message', (message) => resolve(message as LoadReport));
    child.once('close', (code, signal) =>
      reject(
        new BundleError(`a module ended the process that loads it (${signal ?? code}): ${stderr}`),
      ),
    );
    child.send(request);
  });
  try {
    return await withDeadline(report, LOAD_MS_MAX, 'loading the bundle');
  } catch (error) {
    throw error instanceof DeadlineExceeded ? new BundleError(error.message) : error;
  } finally {
    child.kill('SIGKILL');
  }
}
