/** The part of OpenAPI and JSON Schema that the docs page reads. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
  enum?: readonly unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  format?: string;
  examples?: readonly unknown[];
}

export type Schemas = Record<string, Schema>;

export interface Field {
  name: string;
  type: string;
  required: boolean;
  about: string;
}

/**
 * The fields of an object and of the nameless objects inside it, by their dotted names. Named
 * shapes are listed once, in their own section.
 */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const object = insideOf(schema);
  const required = new Set(object.required ?? []);
  return Object.entries(object.properties ?? {}).flatMap(([key, field]) => {
    const name = prefix + key;
    const inner = fieldsOf(field, name + (field.type === 'array' ? '[].' : '.'));
    return [
      { name, type: typeOf(field), required: required.has(key), about: aboutOf(field) },
      ...inner,
    ];
  });
}

/** The object that a schema is about: itself, its entries, or the alternative that has fields. */
function insideOf(schema: Schema): Schema {
  if (schema.items) return insideOf(schema.items);
  const alternatives = (schema.anyOf ?? []).map((one) => insideOf(one));
  return alternatives.find((one) => one.properties) ?? schema;
}

export function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.$ref === undefined ? schema : (schemas[shapeName(schema.$ref)] ?? schema);
}

export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return shapeName(schema.$ref);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' | ');
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  if (schema.format === 'date-time') return 'time';
  return [schema.type ?? 'any JSON'].flat().join(' | ');
}

function shapeName(reference: string): string {
  return reference.split('/').at(-1) ?? reference;
}

/** A value that shows the schema at work: its own example, or its fields that have one. */
export function exampleOf(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0];
  const entry = schema.items && exampleOf(schema.items);
  if (entry !== undefined) return [entry];
  const fields = Object.entries(schema.properties ?? {}).map(([key, field]) => [
    key,
    exampleOf(field),
  ]);
  const shown = fields.filter(([, example]) => example !== undefined);
  return shown.length > 0 ? Object.fromEntries(shown) : undefined;
}

/** What a field means, and between which bounds. */
export function aboutOf(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    schema.description,
    range(minimum ?? exclusiveMinimum, maximum, exclusiveMinimum === undefined ? 'From' : 'Above'),
    range(minLength, maxLength, 'Length from'),
    range(minItems, maxItems, 'Entries from'),
    schema.default === undefined ? undefined : `Default ${JSON.stringify(schema.default)}.`,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
}

/** The generator writes the bounds of JavaScript itself for a plain whole number: no news. */
function range(min: number | undefined, max: number | undefined, word: string): string | undefined {
  if (max === undefined || max === Number.MAX_SAFE_INTEGER) return undefined;
  return `${word} ${min ?? 0} to ${max}.`;
}
