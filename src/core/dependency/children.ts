import type { RetryInput } from '../definition/definition.ts';
import { unknownName } from '../values/nearest.ts';
import { isRecord } from '../values/record.ts';
import type { JobOutcome } from './dependency.ts';

/**
 * A running job may spawn jobs, its children, and wait for their end. A child is known by its name
 * among the children, so that a repeated attempt finds it and does not make it twice. Without a name
 * it is known by its place in the order of calls.
 */

/** The most children of one job. */
export const CHILDREN_MAX = 10_000;
/** The most children of one message; a longer list is sent in several. */
export const SPAWN_MAX = 500;
/** And about the most characters of one message, unless one child alone has more. */
export const SPAWN_MAX_CHARS = 4_000_000;
export const CHILD_NAME_MAX = 100;

/** `waiting.waits_for` of a job that waits for its children. No signal has such a name. */
export const CHILDREN = ':children';

/**
 * The step that says that a job has children. The attempts of such a job get them as its value, with
 * the outcomes of those that have ended.
 */
export const CHILDREN_STEP = 'children:';

const WAIT = 'wait-children:';
/** The step of the nth wait: the number of children that it waits for. */
export const waitChildrenStep = (n: number) => `${WAIT}${n}`;

export function isWaitChildrenStep(name: string): boolean {
  return name.startsWith(WAIT);
}

/** A child as an attempt of its parent gets it. Without an end, the outcome is null. */
export interface KnownChild {
  id: string;
  name: string;
  /** The hash of `askedText`. */
  asked: string;
  outcome: Omit<JobOutcome, 'id'> | null;
}

/** A child to store: its name, and the body of `POST /v1/jobs`. */
export interface ChildRequest {
  name: string;
  job: Record<string, unknown>;
}

/** A stored child. */
export interface SpawnedChild {
  id: string;
  /** Its place among all children. */
  position: number;
  /** It existed with another definition or other params, and stays as it is. */
  differs?: true | undefined;
  /** Text for the author, such as that no worker has the definition. */
  warning?: string | undefined;
}

/** What the hash of a child covers. The order of keys makes no difference. */
export function askedText(definitionKey: unknown, params: unknown): string {
  return JSON.stringify([definitionKey, params ?? {}], (_key, value: unknown) =>
    isRecord(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** How a child is stored. */
export interface SpawnOptions {
  /** Its name among the children of this job. Default: its place in the order of calls. */
  name?: string | undefined;
  definitionVersion?: number | undefined;
  /** An integer; higher runs first, default 0. */
  priority?: number | undefined;
  maxAttempts?: number | undefined;
  /** Jobs with the same key share the limits that the definition has for keys. */
  concurrencyKey?: string | undefined;
  runAt?: Date | string | undefined;
  delayMs?: number | undefined;
  timeoutSeconds?: number | undefined;
  retry?: RetryInput | undefined;
  tags?: readonly string[] | undefined;
  /** A child that has not started by then fails with EXPIRED. */
  expiresAt?: Date | string | undefined;
}

const OPTIONS = [
  'name',
  'definitionVersion',
  'priority',
  'maxAttempts',
  'concurrencyKey',
  'runAt',
  'delayMs',
  'timeoutSeconds',
  'retry',
  'tags',
  'expiresAt',
] as const satisfies readonly (keyof SpawnOptions)[];

/** The fields that the body of a child may have. */
export const CHILD_FIELDS: readonly string[] = [
  'definitionKey',
  'params',
  ...OPTIONS.filter((name) => name !== 'name'),
];

/** What is needed of a definition. */
export interface SpawnDefinition<Input = unknown, Result = unknown> {
  readonly key: string;
  readonly version: number;
  /** For the type checker only. */
  readonly types?: { input: Input; result: Result };
}

type Definition = SpawnDefinition | string;
type InputOf<Of> = Of extends SpawnDefinition<infer Input> ? Input : unknown;
type ResultOf<Of> = Of extends SpawnDefinition<unknown, infer Result> ? Result : unknown;

/** One child of `ctx.spawnMany`. */
export interface SpawnEntry<Of extends Definition = Definition> {
  definition: Of;
  params?: NoInfer<InputOf<Of>> | undefined;
  options?: SpawnOptions | undefined;
}

/** The children of `ctx.spawnMany`, each checked against its own definition. */
export type SpawnEntries<All extends readonly Definition[]> = {
  [Index in keyof All]: SpawnEntry<All[Index]>;
};

/** A child of a job. */
export interface ChildJob<Result = unknown> {
  readonly jobId: string;
  /** For the type checker only. */
  readonly types?: { result: Result };
}

export type ChildJobs<All extends readonly Definition[]> = {
  -readonly [Index in keyof All]: ChildJob<ResultOf<All[Index]>>;
};

/** What a job learns of a child. */
export interface ChildOutcome<Result = unknown> extends Omit<JobOutcome, 'result'> {
  /** That of its options; without one, its place in the order of calls: `#1`. */
  name: string;
  /** Null unless it succeeded, and when it is no longer stored. */
  result: Result | null;
}

/** The body of a child, without undefined fields. Throws a `TypeError`. */
export function childBody({ definition, params, options = {} }: SpawnEntry): {
  name: string | null;
  job: Record<string, unknown>;
} {
  const { key, version } =
    typeof definition === 'string' ? { key: definition, version: undefined } : definition;
  for (const option of Object.keys(options)) {
    if (!(OPTIONS as readonly string[]).includes(option)) {
      throw new TypeError(unknownName('option of spawn', option, OPTIONS));
    }
  }
  const { name, definitionVersion = version, ...others } = options;
  if (name !== undefined && !isChildName(name)) {
    throw new TypeError(`the name of a child is ${CHILD_NAME_RULE}`);
  }
  const job: Record<string, unknown> = { definitionKey: key };
  for (const [field, value] of Object.entries({ params, definitionVersion, ...others })) {
    if (value !== undefined) job[field] = value instanceof Date ? value.toISOString() : value;
  }
  return { name: name ?? null, job };
}

const CHILD_NAME_RULE = `a text of 1 to ${CHILD_NAME_MAX} characters that does not begin with #`;

function isChildName(name: unknown): boolean {
  if (typeof name !== 'string' || name === '' || name.length > CHILD_NAME_MAX) return false;
  return !name.startsWith('#') && name.isWellFormed() && !name.includes('\u0000');
}

/** The name of a child without one: its place in the order of calls, from 1. */
export const unnamedChild = (place: number) => `#${place}`;

/** Which of these states a child did not succeed with, in one line; null when all succeeded. */
export function unsuccessfulChildren(outcomes: readonly JobOutcome[]): string | null {
  const bad = outcomes.filter(({ state }) => state !== 'succeeded');
  const [first] = bad;
  if (!first) return null;
  const how = first.state === 'failed' ? 'failed' : 'was cancelled';
  const why = first.error ? ` (${first.error.code})` : '';
  const which = `${bad.length} of ${outcomes.length} children did not succeed`;
  return `${which}: the first, ${first.id}, ${how}${why}`;
}
