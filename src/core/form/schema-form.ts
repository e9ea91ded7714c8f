import { canonicalJson } from '../values/canonical-json.ts';
import { exampleOf } from './schema-example.ts';

/**
 * Converts the JSON Schema of params to form fields, and typed values back to params. The form is a
 * help only: what it cannot show is entered as JSON, and the server validates.
 */
export interface Field {
  /** JSON pointer into the params, as in the server's errors. */
  pointer: string;
  label: string;
  /** `mixed` is a text, or JSON that is an object or a list. */
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json' | 'mixed';
  required: boolean;
  about: string;
  choices: readonly string[];
  initial: string;
}

interface Schema {
  type?: unknown;
  anyOf?: readonly Schema[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  enum?: readonly unknown[];
  description?: string;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
}

const DEPTH_MAX = 3;

/** In the order of the schema. Null if the params are no object or have no properties. */
export function fieldsOf(schema: unknown): Field[] | null {
  if (!isSchema(schema) || schema.type !== 'object' || !schema.properties) return null;
  return fieldsIn(schema, '', '', 1, true);
}

function fieldsIn(
  schema: Schema,
  pointer: string,
  label: string,
  depth: number,
  needed: boolean,
): Field[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const title = label === '' ? name : `${label}.${name}`;
    if (inner.type === 'object' && inner.properties && depth < DEPTH_MAX) {
      return fieldsIn(inner, at, title, depth + 1, needed && required.has(name));
    }
    const choices = (inner.enum ?? []).filter((one) => typeof one === 'string');
    const kind = kindOf(inner, choices.length);
    return {
      pointer: at,
      label: title,
      kind,
      // An omitted field gets its default, and an optional object may be omitted as a whole.
      required: needed && required.has(name) && inner.default === undefined,
      about: aboutOf(inner),
      choices,
      initial: inner.default === undefined ? '' : written(inner.default, kind),
    };
  });
}

function kindOf({ type, enum: all, anyOf }: Schema, choices: number): Field['kind'] {
  if (anyOf && isMixed(anyOf)) return 'mixed';
  if (all) return choices === all.length ? 'choice' : 'json';
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

/** Not with numbers, booleans or null: a text of these would be ambiguous. */
function isMixed(anyOf: readonly Schema[]): boolean {
  const types = anyOf.map(({ type }) => String(type));
  return types.includes('string') && types.every((one) => /^(string|array|object)$/.test(one));
}

function aboutOf({ description, format, minimum, maximum, type }: Schema): string {
  const bounded = [minimum, maximum].some(
    (one) => one !== undefined && Math.abs(one) < 2 ** 53 - 1,
  );
  const range = bounded ? `${minimum ?? '…'} to ${maximum ?? '…'}` : null;
  const whole = type === 'integer' ? 'whole number' : null;
  return [description, format, whole, range].filter(Boolean).join(' · ');
}

function written(value: unknown, kind: Field['kind']): string {
  if (kind === 'mixed' && typeof value === 'string') return value;
  return kind === 'text' || kind === 'choice' ? String(value) : JSON.stringify(value);
}

export type Typed = Readonly<Record<string, string>>;
export type Params = { params: unknown } | { pointer: string; wrong: string };

/** Empty fields are omitted. */
export function paramsOf(fields: readonly Field[], typed: Typed): Params {
  const params: Record<string, unknown> = {};
  for (const { pointer, kind } of fields) {
    const text = typed[pointer] ?? '';
    if (text === '') continue;
    const read = valueOf(text, kind);
    if ('wrong' in read) return { pointer, wrong: read.wrong };
    put(params, pointer, read.value);
  }
  return { params };
}

function valueOf(text: string, kind: Field['kind']): { value: unknown } | { wrong: string } {
  if (kind === 'text' || kind === 'choice') return { value: text };
  if (kind === 'number') {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { wrong: 'must be a number' };
  }
  if (kind === 'mixed' && !/^\s*[[{]/.test(text)) return { value: text };
  return readJson(text);
}

/** `wrong` is a sentence. */
export function readJson(text: string): { value: unknown } | { wrong: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be parsed';
    return { wrong: `Invalid JSON: ${reason.replace(/\.?$/, '.')}` };
  }
}

/** The inverse: existing params as typed values. */
export function typedOf(fields: readonly Field[], params: unknown): Typed {
  return Object.fromEntries(
    fields.flatMap(({ pointer, kind }) => {
      const value = look(params, pointer);
      return value === undefined ? [] : [[pointer, written(value, kind)]];
    }),
  );
}

/** Whether fields hold these params whole: what they cannot hold would be lost. */
export function holdsWhole(fields: readonly Field[], params: unknown): boolean {
  const read = paramsOf(fields, typedOf(fields, params));
  return 'params' in read && canonicalJson(read.params) === canonicalJson(params);
}

/** The example of the schema, or the required fields with sample values; null if there are none. */
export function skeletonOf(schema: unknown): object | null {
  const example = exampleOf(schema);
  if (example) return example;
  const required = (fieldsOf(schema) ?? []).filter((field) => field.required);
  if (required.length === 0) return null;
  const params: Record<string, unknown> = {};
  for (const { pointer, kind, choices } of required) {
    const samples = {
      number: 0,
      boolean: false,
      choice: choices[0],
      text: '…',
      json: '…',
      mixed: '…',
    };
    put(params, pointer, samples[kind]);
  }
  return params;
}

function put(params: Record<string, unknown>, pointer: string, value: unknown): void {
  const names = namesIn(pointer);
  const last = names.pop() ?? '';
  let at = params;
  for (const name of names) {
    define(at, name, Object.hasOwn(at, name) ? at[name] : {});
    at = at[name] as Record<string, unknown>;
  }
  define(at, last, value);
}

/** A field may be named `__proto__`. */
function define(object: object, name: string, value: unknown): void {
  const plain = { value, enumerable: true, writable: true, configurable: true };
  Object.defineProperty(object, name, plain);
}

function look(params: unknown, pointer: string): unknown {
  return namesIn(pointer).reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined,
    params,
  );
}

function namesIn(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
