import { z } from 'zod';
import { isWebAddress } from '../../core/definition/definition-about.ts';
import { type DefinitionInfo, ISOLATIONS } from '../../core/definition/definition.ts';
import { FIRST_SHAPE } from '../../core/shape/upgrade.ts';
import { type Limits, NO_LIMITS } from '../../core/queue/limits.ts';
import { HOOKS } from '../../core/views/history.ts';
import { DefinitionLimitsAnswer, PauseAnswer, Rate } from './limit-answer.ts';

const Retry = z.union([
  z.looseObject({ baseMs: z.number(), maxMs: z.number(), jitter: z.number() }),
  z.looseObject({ delaysMs: z.array(z.number()), jitter: z.number() }),
]);

export const DefinitionAnswer = z.looseObject({
  key: z.string(),
  version: z.int(),
  owner: z.string().nullable().describe('The owning team.'),
  description: z.string().nullable().describe('Description of the definition.'),
  runbookUrl: z.string().nullable().describe('URL of the runbook, http or https.'),
  maxAttempts: z.int(),
  timeoutSeconds: z.number().describe('Timeout of one attempt.'),
  stallTimeoutMs: z
    .int()
    .nullable()
    .describe('Longest time without a sign of life of an attempt; null: no limit.'),
  retry: Retry.describe('Retry policy.'),
  retryOn: z
    .array(z.string())
    .nullable()
    .describe('Error codes that are retried; null: the default.'),
  cancelGraceMs: z.int().nullable().describe('Time to stop after a cancellation.'),
  maxInterruptions: z.int(),
  isolation: z.enum(ISOLATIONS).describe('Isolation of its jobs.'),
  memoryMb: z
    .int()
    .nullable()
    .describe(
      'Memory limit of the process and its children; null: default of the worker, 0: no limit.',
    ),
  concurrencyLimit: z.int().nullable().describe('Maximum number of running jobs, from the code.'),
  concurrencyKeyLimit: z.int().nullable().describe('The same per concurrency key.'),
  rateLimit: Rate.nullable().describe('Rate limit of starts, from the code.'),
  keyRateLimit: Rate.nullable().describe('The same per concurrency key.'),
  spread: z.int().nullable().describe('Number of shards for its jobs, from the code; null: 1.'),
  hooks: z.array(z.enum(HOOKS)).describe('Hooks that it has.'),
  command: z.array(z.string()).nullable().describe('Program and arguments; null for code.'),
  redact: z.array(z.string()).describe('Paths that are redacted in params, results and events.'),
  schedules: z
    .array(z.looseObject({ name: z.string(), cron: z.string(), timezone: z.string() }))
    .describe('Schedules declared in the code.'),
  paramsSchema: z.unknown().describe('JSON Schema of the params, if any.'),
  paramsShape: z
    .int()
    .describe('Shape of the params that the code works with; 1 without upgrades.'),
  group: z
    .looseObject({ size: z.int(), waitMs: z.int() })
    .nullable()
    .describe('Jobs run in groups: at most `size` in one call; null: each job alone.'),
  publishedAt: z.iso
    .datetime()
    .describe('When a worker last published a change of its rules, schema or code.'),
});

/** Limits and pauses belong to the key, so all versions show the same. */
const ListedDefinition = DefinitionAnswer.extend({
  limits: DefinitionLimitsAnswer,
  paused: PauseAnswer.nullable().describe('Null unless the definition itself is paused.'),
});

export const DefinitionsAnswer = z.looseObject({ definitions: z.array(ListedDefinition) });

export type DefinitionAnswer = z.infer<typeof DefinitionAnswer>;

type Later =
  | 'description'
  | 'runbookUrl'
  | 'memoryMb'
  | 'limits'
  | 'hooks'
  | 'command'
  | 'redact'
  | 'stallTimeoutMs'
  | 'paramsShape'
  | 'group';
type Published = Omit<DefinitionInfo, Later> & Partial<Pick<DefinitionInfo, Later>>;

/**
 * Timeouts are in seconds, as written in code. A worker of an earlier release may have published it
 * without newer fields.
 */
export function definitionAnswer(
  definition: Published & { publishedAt: string },
): DefinitionAnswer {
  return {
    key: definition.key,
    version: definition.version,
    owner: definition.owner,
    description: definition.description ?? null,
    // URLs from workers are checked, because users click them.
    runbookUrl: isWebAddress(definition.runbookUrl) ? definition.runbookUrl : null,
    maxAttempts: definition.maxAttempts,
    timeoutSeconds: definition.timeoutMs / 1_000,
    stallTimeoutMs: definition.stallTimeoutMs ?? null,
    retry: definition.retry as DefinitionAnswer['retry'],
    retryOn: definition.retryOn,
    cancelGraceMs: definition.cancelGraceMs,
    maxInterruptions: definition.maxInterruptions,
    isolation: definition.isolation,
    memoryMb: definition.memoryMb ?? null,
    ...limitsAnswer(definition.limits ?? NO_LIMITS),
    hooks: definition.hooks ?? [],
    command: definition.command?.argv ?? null,
    redact: definition.redact ?? [],
    // Absent if published by an older worker.
    schedules: (definition.schedules ?? []).map(({ name, cron, timezone }) => ({
      name,
      cron,
      timezone,
    })),
    paramsSchema: definition.paramsSchema ?? null,
    paramsShape: definition.paramsShape ?? FIRST_SHAPE,
    group: definition.group ? { ...definition.group } : null,
    publishedAt: definition.publishedAt,
  };
}

/** A worker of an earlier release published no spread. */
function limitsAnswer({ rateLimit, keyRateLimit, spread, ...counts }: Limits) {
  return {
    ...counts,
    rateLimit: rateLimit && { ...rateLimit },
    keyRateLimit: keyRateLimit && { ...keyRateLimit },
    spread: spread ?? null,
  };
}
