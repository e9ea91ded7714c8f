import { definitionInfo } from './check-definition.ts';
import {
  branded,
  hooksOf,
  type JobContext,
  type JobDefinition,
  type JobHooks,
  type JobLogger,
  publishedSchema,
  schemaOf,
  type StandardSchema,
} from './define.ts';
import { DefinitionError, type DefinitionPolicy } from './definition.ts';
import { groupRule } from './group.ts';
import { POLICY_OPTIONS } from './policy-fields.ts';
import { shapeAfter, type UpgradeInput, upgradesOf } from '../shape/upgrade.ts';
import { unknownName } from '../values/nearest.ts';
import { HOOKS, type HookName } from '../views/history.ts';

type ItemContext = Pick<
  JobContext,
  | 'jobId'
  | 'tenant'
  | 'attempt'
  | 'maxAttempts'
  | 'abortSignal'
  | 'logger'
  | 'parents'
  | 'progress'
  | 'emitEvent'
  | 'step'
>;

/** One job of a group. It has its own attempts, steps, log and history. */
export interface BatchItem<Params = unknown> extends ItemContext {
  readonly params: Params;
  /** Returned in place of a result, it fails this item only. The error decides about the retry. */
  fail(error: unknown): ItemFailure;
}

/** What all items of a group share. */
export interface BatchContext {
  /** Aborts when all items of the group have to stop. */
  readonly abortSignal: AbortSignal;
  /** Writes to the log of the first item. */
  readonly logger: JobLogger;
  readonly secrets: JobContext['secrets'];
  /** A sign of life of all items. */
  heartbeat(): void;
}

/** The end of an item that did not succeed. */
export class ItemFailure {
  readonly longshore = 'item-failure';
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** The process of a job may have loaded the class twice. */
export function isItemFailure(value: unknown): value is ItemFailure {
  if (typeof value !== 'object' || value === null || !('longshore' in value)) return false;
  return value.longshore === 'item-failure';
}

export type BatchRun<Params, Result> = (
  items: readonly BatchItem<Params>[],
  ctx: BatchContext,
) => Promise<readonly (Result | ItemFailure)[]> | readonly (Result | ItemFailure)[];

export interface BatchJobOptions<Params, Result>
  extends DefinitionPolicy, Omit<JobHooks, 'onStart'> {
  /** The most jobs of one call, 1 to 1000. */
  size: number;
  /** How long the first job waits for others, at most a minute; 100 by default. */
  waitMs?: number | undefined;
  /** Returns one result for each item, in their order, or `item.fail(error)`. */
  run: BatchRun<Params, Result>;
  upgrade?: UpgradeInput | undefined;
}

const KNOWN_OPTIONS: readonly string[] = [
  ...POLICY_OPTIONS,
  'params',
  'run',
  'upgrade',
  'size',
  'waitMs',
  // `onStart` would run for one job, and the code runs for many.
  ...HOOKS.filter((hook) => hook !== 'onStart'),
];

/** A definition whose queued jobs run in groups, each group in one call of `run`. */
export function defineBatchJob<Output, Input, Result>(
  options: BatchJobOptions<Output, Result> & { params: StandardSchema<Output, Input> },
): JobDefinition<Input, Exclude<Result, ItemFailure>>;
export function defineBatchJob<Params, Result>(
  options: BatchJobOptions<Params, Result>,
): JobDefinition<Params, Exclude<Result, ItemFailure>>;
export function defineBatchJob(
  options: BatchJobOptions<never, unknown> & { params?: StandardSchema },
): JobDefinition {
  for (const name of Object.keys(options)) {
    if (!KNOWN_OPTIONS.includes(name)) {
      throw new DefinitionError(unknownName('option of defineBatchJob', name, KNOWN_OPTIONS));
    }
  }
  const { key, run } = options;
  if (typeof run !== 'function')
    throw new DefinitionError(`${String(key)}: run must be a function`);
  const schema = schemaOf(key, options.params);
  const hooks = hooksOf(options);
  const upgrades = upgradesOf(key, options.upgrade);
  const info = definitionInfo(options, {
    paramsSchema: publishedSchema(schema),
    paramsShape: shapeAfter(upgrades),
    hooks: Object.keys(hooks) as HookName[],
    group: groupRule(key, options.size, options.waitMs),
  });
  return branded({ info, schema, hooks, upgrades, run });
}
