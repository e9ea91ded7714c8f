import { unknownName } from '../values/nearest.ts';
import { isRecord } from '../values/record.ts';
import { ArtifactError } from './artifact-error.ts';
import { entryPath } from './entry-path.ts';

export const RUNTIMES = ['node', 'command'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** An export of a module of the bundle: a definition, or a function of params and context. */
export interface ModuleExport {
  /** The path in the bundle, perhaps without its extension (`resolveModule`). */
  module: string;
  export: string;
}

export interface NodeEntrypoint extends ModuleExport {
  runtime: 'node';
}

/** A program with the contract of `defineCommand`. */
export interface CommandEntrypoint {
  runtime: 'command';
  argv: string[];
  /** Relative to the bundle; null: the folder of the bundle. */
  cwd: string | null;
  /** The definition made by `defineCommand`, which has the hooks; null: no hooks. */
  definition: ModuleExport | null;
}

export type Entrypoint = NodeEntrypoint | CommandEntrypoint;

/** A wrong field of `longshore.json`, or of a call that stands for it. */
export class ManifestError extends ArtifactError {
  override name = 'ManifestError';
  /** The wrong field, such as `definitions[0].entrypoint`; '' for the whole. */
  readonly path: string;

  constructor(path: string, sentence: string, options?: ErrorOptions) {
    super('MANIFEST_INVALID', path === '' ? sentence : `${path}: ${sentence}`, options);
    this.path = path;
  }
}

const NODE_FIELDS = ['module', 'export'];
const COMMAND_FIELDS = ['command', 'cwd', ...NODE_FIELDS];
const EXPORT_NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
const ARGUMENTS_MAX = 1_000;

/**
 * `"main:run"` or `{"module":"main","export":"run"}` for Node; `["python3","main.py"]` or
 * `{"command":[…],"cwd":"app"}` for a command. A bundle for Node may have commands, too: the fields
 * of an object tell which it is.
 */
export function parseEntrypoint(value: unknown, runtime: Runtime, path: string): Entrypoint {
  if (typeof value === 'string') {
    return runtime === 'node' ? moduleText(value, path) : command({ command: [value] }, path);
  }
  if (Array.isArray(value)) return command({ command: value }, path);
  if (!isRecord(value)) {
    throw new ManifestError(
      path,
      runtime === 'node'
        ? 'must be "module:export", such as "main:run"'
        : 'must be a list of texts, such as ["python3","main.py"]',
    );
  }
  const isCommand = Object.hasOwn(value, 'command');
  requireKnown(value, isCommand ? COMMAND_FIELDS : NODE_FIELDS, path);
  return isCommand ? command(value, path) : { runtime: 'node', ...moduleExport(value, path) };
}

/** The form in the manifest. */
export function entrypointFields(entrypoint: Entrypoint): Record<string, unknown> {
  if (entrypoint.runtime === 'node') {
    return { module: entrypoint.module, export: entrypoint.export };
  }
  const { argv, cwd, definition } = entrypoint;
  return { command: argv, ...(cwd === null ? {} : { cwd }), ...definition };
}

export function requireKnown(
  fields: Record<string, unknown>,
  known: readonly string[],
  path: string,
): void {
  for (const name of Object.keys(fields)) {
    if (!known.includes(name)) throw new ManifestError(path, unknownName('field', name, known));
  }
}

function moduleText(text: string, path: string): NodeEntrypoint {
  const colon = text.lastIndexOf(':');
  const module = colon < 0 ? text : text.slice(0, colon);
  const name = colon < 0 ? 'default' : text.slice(colon + 1);
  return { runtime: 'node', ...moduleExport({ module, export: name }, path) };
}

function moduleExport(fields: Record<string, unknown>, path: string): ModuleExport {
  const { module, export: name = 'default' } = fields;
  if (typeof module !== 'string') {
    throw new ManifestError(`${path}.module`, 'must be the path of a file in the bundle');
  }
  if (typeof name !== 'string' || !EXPORT_NAME.test(name)) {
    throw new ManifestError(`${path}.export`, 'must be the name of an export of the module');
  }
  return { module: inBundle(module, `${path}.module`), export: name };
}

function command(fields: Record<string, unknown>, path: string): CommandEntrypoint {
  const { command: argv, cwd, module } = fields;
  if (!Array.isArray(argv) || argv.length === 0 || argv.length > ARGUMENTS_MAX) {
    throw new ManifestError(path, 'a command is a list of texts, the program first');
  }
  for (const [index, argument] of argv.entries()) {
    if (typeof argument !== 'string' || argument === '' || argument.includes('\u0000')) {
      throw new ManifestError(`${path}[${index}]`, 'must be a text that is not empty, without NUL');
    }
  }
  if (argv.length === 1 && /\s/.test(String(argv[0]))) {
    throw new ManifestError(path, 'a command is a list, one text for each argument; no shell');
  }
  if (cwd !== undefined && typeof cwd !== 'string') {
    throw new ManifestError(`${path}.cwd`, 'must be a folder of the bundle');
  }
  return {
    runtime: 'command',
    argv: argv as string[],
    cwd: cwd === undefined ? null : inBundle(cwd, `${path}.cwd`) || null,
    definition: module === undefined ? null : moduleExport(fields, path),
  };
}

function inBundle(written: string, path: string): string {
  try {
    return entryPath(written);
  } catch (error) {
    throw error instanceof ArtifactError ? new ManifestError(path, error.message) : error;
  }
}
