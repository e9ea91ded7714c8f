import { z } from 'zod';
import { isWebAddress } from '../../core/definition/definition-about.ts';
import { type DefinitionInfo, ISOLATIONS } from '../../core/definition/definition.ts';
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
  owner: z.string().nullable().describe('The team to ask.'),
  description: z.string().nullable().describe('What it is for.'),
  runbookUrl: z.string().nullable().describe('What to do when it fails: http or https.'),
  maxAttempts: z.int(),
  timeoutSeconds: z.number().describe('How long one attempt may take.'),
  retry: Retry.describe('When a failed attempt is tried again.'),
  retryOn: z.array(z.string()).nullable().describe('Only these failures; null is the default.'),
  cancelGraceMs: z.int().nullable().describe('Time to stop in when cancelled.'),
  maxInterruptions: z.int(),
  isolation: z.enum(ISOLATIONS).describe('Where its jobs run.'),
  memoryMb: z
    .int()
    .nullable()
    .describe('For its process with all children; null is the default of the worker, 0 no limit.'),
  concurrencyLimit: z.int().nullable().describe('How many run at a time, as its code says.'),
  concurrencyKeyLimit: z.int().nullable().describe('The same for each concurrency key.'),
  rateLimit: Rate.nullable().describe('How often one may start, as its code says.'),
  keyRateLimit: Rate.nullable().describe('The same for each concurrency key.'),
  hooks: z.array(z.enum(HOOKS)).describe('What it does at the start and the end of a job.'),
  command: z
    .array(z.string())
    .nullable()
    .describe('Its program and arguments; null if it is code.'),
  redact: z.array(z.string()).describe('Paths that are hidden in params, results and events.'),
  schedules: z
    .array(z.looseObject({ name: z.string(), cron: z.string(), timezone: z.string() }))
    .describe('The schedules that its code asks for.'),
  paramsSchema: z.unknown().describe('The JSON Schema of its params, when it has one.'),
  publishedAt: z.iso.datetime().describe('When a worker last brought something new.'),
});

/** Limits and pauses are those of a key, so that all its versions show the same. */
const ListedDefinition = DefinitionAnswer.extend({
  limits: DefinitionLimitsAnswer,
  paused: PauseAnswer.nullable().describe('Null unless the definition itself is paused.'),
});

export const DefinitionsAnswer = z.looseObject({ definitions: z.array(ListedDefinition) });

export type DefinitionAnswer = z.infer<typeof DefinitionAnswer>;

type Later = 'description' | 'runbookUrl' | 'memoryMb' | 'limits' | 'hooks' | 'command' | 'redact';
type Published = Omit<DefinitionInfo, Later> & Partial<Pick<DefinitionInfo, Later>>;

/**
 * People think of timeouts in seconds, as they wrote them; inside they are milliseconds. A worker of
 * an earlier release may have published it, without the fields that came later.
 */
export function definitionAnswer(
  definition: Published & { publishedAt: string },
): DefinitionAnswer {
  return {
    key: definition.key,
    version: definition.version,
    owner: definition.owner,
    description: definition.description ?? null,
    // A worker is believed about much, but not about where people click.
    runbookUrl: isWebAddress(definition.runbookUrl) ? definition.runbookUrl : null,
    maxAttempts: definition.maxAttempts,
    timeoutSeconds: definition.timeoutMs / 1_000,
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
    // What an older worker published has none.
    schedules: (definition.schedules ?? []).map(({ name, cron, timezone }) => ({
      name,
      cron,
      timezone,
    })),
    paramsSchema: definition.paramsSchema ?? null,
    publishedAt: definition.publishedAt,
  };
}

function limitsAnswer({ rateLimit, keyRateLimit, ...counts }: Limits) {
  return {
    ...counts,
    rateLimit: rateLimit && { ...rateLimit },
    keyRateLimit: keyRateLimit && { ...keyRateLimit },
  };
}
