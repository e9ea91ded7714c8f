import { z } from 'zod';
import { unknownName } from '../core/values/nearest.ts';
import type { DefinitionPolicy } from '../core/definition/definition.ts';
import { type JobHooks, NonRetryable } from '../core/definition/define.ts';

/** What a team may set of a ready-made definition, besides its own options: rules and hooks. */
export type ReadyJobOptions = Partial<DefinitionPolicy> & JobHooks;

/**
 * The value of an environment variable of the job. Params name no secret and hold none: an operator
 * sets it with `longshore secrets set`, or for the worker.
 */
export function secretOf(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new NonRetryable(
    `the environment variable ${name} is not set: set it with longshore secrets set ${name}`,
  );
}

/** One of the names in the settings of the definition; any text where there are none. */
export function oneNameOf(what: string, known: Readonly<Record<string, unknown>>) {
  const names = Object.keys(known);
  if (names.length === 0) return z.string();
  return z.enum(names, { error: ({ input }) => unknownName(what, String(input), names) });
}

/** What the settings of the definition have under a name of the params. */
export function named<T>(what: string, name: string, known: Readonly<Record<string, T>>): T {
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found !== undefined) return found;
  throw new NonRetryable(unknownName(what, name, Object.keys(known)));
}
