import type { PublishedDefinition } from '../client/index.ts';
import { newestVersions } from '../core/definition/owners.ts';
import { hashText } from '../core/values/hash.ts';
import { isRecord } from '../core/values/record.ts';
import { runJob } from './run-job.ts';
import type { Workplace } from './tool.ts';
import { clamp } from './text/clamp.ts';
import type { Facts } from './text/facts.ts';

/** A definition as a tool of its own. */
export interface OfferedTool {
  name: string;
  title: string;
  description: string;
  /** JSON Schema of the arguments. */
  schema: Record<string, unknown>;
  run: (args: unknown, at: Workplace) => Promise<Facts>;
}

/** More tools than that confuse a model. */
export const OFFERS_MAX = 40;
/** Clients put the name of the server before it, and a name may have 64 characters. */
const NAME_MAX = 44;
const ABOUT_MAX = 500;
/** A larger schema costs more of the context of the model than it is worth. */
const SCHEMA_MAX = 20_000;

export function offeredTools(
  definitions: readonly PublishedDefinition[],
  isOffered: (key: string) => boolean,
  waitMs: number,
): OfferedTool[] {
  const offered = newestVersions(definitions).filter(({ key }) => isOffered(key));
  const names = new Map<string, string>();
  return offered.slice(0, OFFERS_MAX).map((definition) => {
    const name = toolName(definition.key, names);
    names.set(name, definition.key);
    return offeredTool(definition, name, waitMs);
  });
}

/** Letters, digits and underscores: other characters are not allowed everywhere. */
function toolName(key: string, taken: ReadonlyMap<string, string>): string {
  const name = `run_${key.replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
  if (name.length <= NAME_MAX && !taken.has(name)) return name;
  return `${name.slice(0, NAME_MAX - 9)}_${hashText(key).slice(0, 8)}`;
}

function offeredTool(
  { key, owner, description, paramsSchema }: PublishedDefinition,
  name: string,
  waitMs: number,
): OfferedTool {
  const { schema, paramsOf } = argumentsOf(paramsSchema);
  const about = description === null ? '' : ` ${clamp(description, ABOUT_MAX)}`;
  const whose = owner === null ? '' : ` Owner: ${owner}.`;
  return {
    name,
    title: key,
    description:
      `Runs a job of ${key} and waits up to ${waitMs / 1_000} s for its result; after that it ` +
      `answers with the id of the job, which goes on.${about}${whose}`,
    schema,
    run: async (args, at) => await runJob(at, key, paramsOf(args), {}, waitMs),
  };
}

interface Arguments {
  schema: Record<string, unknown>;
  paramsOf: (args: unknown) => unknown;
}

/** Arguments are an object. Params that are not become its only field. */
function argumentsOf(schema: unknown): Arguments {
  const isSmall = JSON.stringify(schema ?? null).length <= SCHEMA_MAX;
  if (isRecord(schema) && schema['type'] === 'object' && isSmall) {
    return { schema, paramsOf: (args) => args };
  }
  // A reference would point to another place inside another schema.
  const isPlain = isRecord(schema) && isSmall && !JSON.stringify(schema).includes('"$ref"');
  const params = isPlain ? schema : { description: 'The params of the job, as JSON.' };
  return {
    schema: {
      type: 'object',
      properties: { params },
      ...(isPlain && { required: ['params'] }),
      additionalProperties: false,
    },
    paramsOf: (args) => (isRecord(args) ? args['params'] : undefined),
  };
}
