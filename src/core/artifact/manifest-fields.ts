import type { DeclaredSchedule } from '../definition/declared-schedule.ts';
import type { DefinitionInfo } from '../definition/definition.ts';
import { FIRST_SHAPE } from '../shape/upgrade.ts';
import { type Entrypoint, entrypointFields, type Runtime } from './entrypoint.ts';

export interface ManifestInput {
  app: string | null;
  runtime: Runtime;
  definitions: { info: DefinitionInfo; entrypoint: Entrypoint }[];
}

/**
 * The JSON of `longshore.json` for definitions that are loaded. Reading it gives the same
 * definitions, defaults included, so a later change of a default does not change a deployment.
 */
export function manifestFields({ app, runtime, definitions }: ManifestInput): object {
  return {
    longshore: 1,
    ...(app === null ? {} : { app }),
    runtime,
    definitions: definitions.map(({ info, entrypoint }) => definitionFields(info, entrypoint)),
  };
}

function definitionFields(info: DefinitionInfo, entrypoint: Entrypoint): object {
  const { timeoutMs, limits, hooks, schedules, paramsSchema, redact, command, ...rest } = info;
  const { isolation, paramsShape, ...withoutIsolation } = rest;
  return filled({
    ...withoutIsolation,
    ...(command === null ? { isolation } : {}),
    ...limits,
    timeoutSeconds: timeoutMs / 1_000,
    redact,
    hooks,
    schedule: schedules.map(scheduleFields),
    schema: paramsSchema,
    ...(paramsShape === FIRST_SHAPE ? {} : { paramsShape }),
    entrypoint: entrypointFields(entrypoint),
  });
}

function scheduleFields({ paramsJson, ...rest }: DeclaredSchedule): object {
  return filled({ ...rest, params: JSON.parse(paramsJson) as unknown });
}

const LISTS = ['redact', 'hooks', 'schedule'];

/** Null stands for a field that is not given, and so does an empty list of these. */
function filled(fields: Record<string, unknown>): object {
  const isGiven = ([name, value]: [string, unknown]) =>
    name === 'params' ||
    (value !== null && !(LISTS.includes(name) && (value as unknown[]).length === 0));
  return Object.fromEntries(Object.entries(fields).filter(isGiven));
}
