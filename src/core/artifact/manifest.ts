import { definitionInfo } from '../definition/check-definition.ts';
import {
  DefinitionError,
  type DefinitionInfo,
  type DefinitionPolicy,
} from '../definition/definition.ts';
import { type GroupRule, groupRule } from '../definition/group.ts';
import { POLICY_FIELDS } from '../definition/policy-fields.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { atOnce, parseInSteps } from '../values/exact-json.ts';
import { unknownName } from '../values/nearest.ts';
import { isRecord } from '../values/record.ts';
import { type HookName, HOOKS } from '../views/history.ts';
import {
  type Entrypoint,
  ManifestError,
  parseEntrypoint,
  requireKnown,
  type Runtime,
  RUNTIMES,
} from './entrypoint.ts';

/** The name of the manifest in a bundle. */
export const MANIFEST_FILE = 'longshore.json';
export const MANIFEST_MAX_BYTES = 1_048_576;
export const MANIFEST_MAX_DEFINITIONS = 1_000;
const LIMITS = { valuesMax: 100_000, depthMax: 100 };
const APP_SHAPE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * What a bundle contains: the definitions with their policies, and where the code of each begins.
 * The server reads it and never runs the code to learn it.
 */
export interface Manifest {
  app: string | null;
  /** How an entrypoint that is a text is read. */
  runtime: Runtime;
  definitions: ManifestDefinition[];
  /** The manifest as canonical JSON: the text that is signed. */
  canonical: string;
}

export interface ManifestDefinition {
  /** As a worker publishes it. Its version is 1 when the manifest gives none. */
  info: DefinitionInfo;
  /** The version in the manifest; null: none is given. */
  version: number | null;
  entrypoint: Entrypoint;
}

const FIELDS = ['longshore', 'app', 'runtime', 'definitions'];
const DEFINITION_FIELDS = [
  ...POLICY_FIELDS,
  'entrypoint',
  'hooks',
  'schema',
  'paramsShape',
  'group',
];

/** Reads the bytes of `longshore.json`. */
export function parseManifest(bytes: Uint8Array): Manifest {
  if (bytes.length > MANIFEST_MAX_BYTES) {
    throw new ManifestError('', `the manifest has more than ${MANIFEST_MAX_BYTES} bytes`);
  }
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let value: unknown;
  try {
    value = atOnce(parseInSteps(bytes, LIMITS, (part) => decoder.decode(part)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ManifestError('', `the manifest is not JSON: ${why}`, { cause: error });
  }
  return manifestOf(value);
}

/** Reads a manifest that is parsed already, such as one made from the fields of a call. */
export function manifestOf(value: unknown): Manifest {
  if (!isRecord(value)) throw new ManifestError('', 'the manifest must be an object');
  requireKnown(value, FIELDS, '');
  const { longshore, app = null, runtime, definitions } = value;
  if (longshore !== 1) throw new ManifestError('longshore', 'must be 1, the version of the format');
  if (app !== null && (typeof app !== 'string' || !APP_SHAPE.test(app))) {
    throw new ManifestError('app', 'must be 1 to 100 letters, digits and . _ -');
  }
  const known = RUNTIMES.find((one) => one === runtime);
  if (!known) {
    const typed = typeof runtime === 'string' ? runtime : String(JSON.stringify(runtime));
    throw new ManifestError('runtime', unknownName('runtime', typed, RUNTIMES));
  }
  if (!Array.isArray(definitions) || definitions.length === 0) {
    throw new ManifestError('definitions', 'must be a list of at least one definition');
  }
  if (definitions.length > MANIFEST_MAX_DEFINITIONS) {
    throw new ManifestError('definitions', `are limited to ${MANIFEST_MAX_DEFINITIONS}`);
  }
  const read = definitions.map((one, index) => readOne(one, known, `definitions[${index}]`));
  requireDistinct(read);
  return { app, runtime: known, definitions: read, canonical: canonicalJson(value) };
}

function readOne(value: unknown, runtime: Runtime, path: string): ManifestDefinition {
  if (!isRecord(value)) throw new ManifestError(path, 'must be an object');
  requireKnown(value, DEFINITION_FIELDS, path);
  const { entrypoint: written, hooks, schema = null, paramsShape = 1, group, ...policy } = value;
  if (policy['key'] === undefined) throw new ManifestError(`${path}.key`, 'is missing');
  if (written === undefined) throw new ManifestError(`${path}.entrypoint`, 'is missing');
  const entrypoint = parseEntrypoint(written, runtime, `${path}.entrypoint`);
  if (schema !== null && typeof schema !== 'boolean' && !isRecord(schema)) {
    throw new ManifestError(`${path}.schema`, 'must be a JSON Schema');
  }
  if (entrypoint.runtime === 'command' && policy['isolation'] !== undefined) {
    throw new ManifestError(`${path}.isolation`, 'a command always has a process of its own');
  }
  const parts = {
    paramsSchema: schema,
    paramsShape: paramsShape as number,
    group: groupOf(group, entrypoint, path),
    hooks: hooksOf(hooks, entrypoint, `${path}.hooks`),
    command:
      entrypoint.runtime === 'command' ? { argv: entrypoint.argv, cwd: entrypoint.cwd } : null,
  };
  const info = infoOf(policy as unknown as DefinitionPolicy, parts, path);
  return { info, version: policy['version'] === undefined ? null : info.version, entrypoint };
}

function infoOf(
  policy: DefinitionPolicy,
  parts: Parameters<typeof definitionInfo>[1],
  path: string,
): DefinitionInfo {
  try {
    return definitionInfo(policy, parts);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const prefix = `${policy.key}: `;
    const sentence = error.message.startsWith(prefix)
      ? error.message.slice(prefix.length)
      : error.message;
    const field = /^\w+/.exec(sentence)?.[0] ?? '';
    const inner = (POLICY_FIELDS as readonly string[]).includes(field) ? `${path}.${field}` : path;
    throw new ManifestError(inner, sentence, { cause: error });
  }
}

function groupOf(value: unknown, { runtime }: Entrypoint, at: string): GroupRule | null {
  if (value === undefined) return null;
  const path = `${at}.group`;
  if (!isRecord(value)) throw new ManifestError(path, 'must be an object with size and waitMs');
  requireKnown(value, ['size', 'waitMs'], path);
  if (runtime !== 'node') throw new ManifestError(path, 'a command runs one job at a time');
  try {
    return groupRule('group', value['size'], value['waitMs']);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    throw new ManifestError(path, error.message, { cause: error });
  }
}

/** Hooks are functions, so only a module can have them. */
function hooksOf(value: unknown, entrypoint: Entrypoint, path: string): HookName[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new ManifestError(path, 'must be a list of names');
  const hasModule = entrypoint.runtime === 'node' || entrypoint.definition !== null;
  if (value.length > 0 && !hasModule) {
    throw new ManifestError(path, 'a command without a module has no hooks');
  }
  return value.map((name, index) => {
    const hook = HOOKS.find((one) => one === name);
    if (hook && value.indexOf(name) === index) return hook;
    throw new ManifestError(
      `${path}[${index}]`,
      hook ? `${hook} occurs twice` : unknownName('hook', String(name), HOOKS),
    );
  });
}

function requireDistinct(definitions: readonly ManifestDefinition[]): void {
  const seen = new Map<string, number>();
  for (const [index, { info, version }] of definitions.entries()) {
    const name = version === null ? info.key : `${info.key}@${version}`;
    const other = seen.get(name);
    if (other !== undefined) {
      throw new ManifestError(
        `definitions[${index}].key`,
        `${name} is already defined in definitions[${other}]`,
      );
    }
    seen.set(name, index);
  }
}
