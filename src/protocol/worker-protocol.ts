import { GROUP_SIZE_MAX, GROUP_WAIT_MS_MAX } from '../core/definition/group.ts';
import { NOT_LOADED_CHARS_MAX, NOT_LOADED_MAX } from '../core/definition/not-loaded.ts';
import { PARAMS_SHAPE_MAX } from '../core/shape/upgrade.ts';
import { CHILD_NAME_MAX, SPAWN_MAX } from '../core/dependency/children.ts';
import { isServerStep } from '../core/job/signal.ts';
import { STREAM_CHUNK_CHARS } from '../core/logs/stream.ts';
import { z } from 'zod';
import { ISOLATIONS } from '../core/definition/definition.ts';
import { LEVELS, LOG_STREAMS } from '../core/views/history.ts';
import { closed, definitionKey, list, number, text, whole } from './fields.ts';

/**
 * The protocol of workers over HTTP: the worker declares what it holds, and the server answers with
 * the difference. Every call may be repeated. Only durations are sent, never times.
 */

export const TURN_JOBS_MAX = 500;
export const WAIT_MS_MAX = 60_000;
const HELD_MAX = 10_000;
const LEASE_MS_MIN = 1_000;
const LEASE_MS_MAX = 3_600_000;
const PID_MAX = 2 ** 31 - 1;
const SAID_MAX = 5_000;
const AGE_MS_MAX = 86_400_000;

const jobId = z.uuid({ error: 'must be the id of a job' });
const claim = whole(1, PID_MAX);
const leaseMs = whole(LEASE_MS_MIN, LEASE_MS_MAX).describe(
  'Its lease, from the moment of sending.',
);

const masked = z
  .boolean()
  .default(false)
  .describe('The worker has masked the secrets of the params; otherwise the server does.');

/** The rules of a definition, as a worker brings them from its code. */
const DefinitionRules = z.looseObject({
  key: definitionKey(),
  version: whole(1, PID_MAX),
  maxAttempts: whole(1, 1_000),
  timeoutMs: z.number().min(0),
  retry: z.union([
    z.strictObject({ baseMs: z.number(), maxMs: z.number(), jitter: z.number() }),
    z.strictObject({ delaysMs: z.array(z.number()).min(1), jitter: z.number() }),
  ]),
  retryOn: z.array(z.string()).nullable(),
  cancelGraceMs: z.number().nullable(),
  maxInterruptions: z.int().min(0),
  isolation: z.enum(ISOLATIONS),
  hooks: z.array(z.string()),
  paramsShape: whole(1, PARAMS_SHAPE_MAX).optional(),
  group: z
    .strictObject({ size: whole(1, GROUP_SIZE_MAX), waitMs: whole(0, GROUP_WAIT_MS_MAX) })
    .nullable()
    .optional(),
  codeHash: text(64).optional().describe('Of its code: charts mark when it changes.'),
});

/** Body of `PUT /v1/workers/{instance}`. */
export const RegisterBody = closed({
  host: text(200).describe('The host it runs on.'),
  pid: whole(0, PID_MAX).default(0).describe('Its process id.'),
  version: text(100).default('unknown').describe('Its version.'),
  slots: whole(1, 10_000).default(1).describe('Number of concurrent jobs.'),
  leaseMs: leaseMs.optional().describe('Its lease. Default: the setting of the server.'),
  definitions: list(
    closed({
      key: definitionKey(),
      version: whole(1, PID_MAX).default(1),
      rules: DefinitionRules.optional().describe(
        'All rules of the definition; published for a key of the default tenant.',
      ),
    }),
    0,
    1_000,
  ).describe('The definitions that it serves; may be empty with `deployments`.'),
  notLoaded: list(text(NOT_LOADED_CHARS_MAX), 0, NOT_LOADED_MAX)
    .default([])
    .describe('Files of definitions that it could not load, each with the reason, for operators.'),
  deployments: z
    .boolean()
    .default(false)
    .describe('It serves deployments, and registers again when it has loaded or unloaded one.'),
}).refine(({ definitions, deployments }) => deployments || definitions.length > 0, {
  path: ['definitions'],
  error: 'must be a list of 1 to 1000 entries',
});

export const RegisterAnswer = z.looseObject({
  leaseMs: z.int().describe('Its lease. It counts from the moment a call was sent.'),
  beatMs: z.int().describe('Interval of heartbeats.'),
  waitMs: z.int().describe('Longest useful `waitMs` of a turn.'),
  idleWaitMs: z.int().describe('The same for a turn with `idle`.'),
  resultMaxBytes: z
    .int()
    .optional()
    .describe('The largest result in bytes; absent: 1048576. Set where large values are allowed.'),
});

/** Servers before idle turns do not answer all of it. */
export type RegisterReply = Partial<z.infer<typeof RegisterAnswer>>;

const Held = closed({ id: jobId, claim });

const JobFailure: z.ZodType = z.looseObject({
  code: z.string().optional(),
  message: z.string().optional(),
  stack: z.string().nullable().optional(),
  cause: z.unknown().optional(),
});

const WireOutcome = z.union([
  closed({ kind: z.literal('success'), resultJson: z.string().describe('One JSON value.') }),
  closed({
    kind: z.literal('failure'),
    error: JobFailure,
    retryAfterMs: z.number().nullable().optional(),
  }),
  closed({ kind: z.literal('snoozed'), delayMs: z.number(), sleep: z.literal(true).optional() }),
  closed({ kind: z.literal('suspended'), signal: z.string(), timeoutMs: z.number() }),
  closed({ kind: z.literal('suspended'), children: z.literal(true) }),
  closed({ kind: z.literal('interrupted'), message: z.string() }),
  closed({ kind: z.literal('unstarted') }),
]);

const nullable = z.int().nullable().default(null);

const Reported = closed({
  id: jobId,
  claim,
  outcome: WireOutcome.describe(
    'success, failure (retried by the rules of the definition), snoozed, suspended (until a ' +
      'signal arrives, or all children have ended), interrupted (by a stop of the worker) or unstarted; the last four cost ' +
      'no attempt. A snooze with `sleep` was asked for by `ctx.sleep`.',
  ),
  usage: closed({
    pid: nullable,
    exitCode: nullable,
    signal: z.string().max(20).nullable().default(null),
    peakRssBytes: nullable,
    cpuMs: nullable,
  }).optional(),
  durationMs: z.int().min(0).nullable().optional().describe('How long its code ran.'),
});

/** Body of `POST /v1/workers/{instance}/turn`. */
export const TurnBody = closed({
  masked,
  outcomes: list(Reported, 0, TURN_JOBS_MAX).default([]).describe('Attempts that ended.'),
  room: whole(0, TURN_JOBS_MAX).default(0).describe('How many jobs it can take.'),
  waitMs: whole(0, WAIT_MS_MAX).default(0).describe('How long to wait for a job.'),
  idle: z
    .boolean()
    .default(false)
    .describe(
      'The worker holds nothing and sends no heartbeats while it waits: its answer renews the ' +
        'lease, from the moment the turn was sent.',
    ),
  serves: whole(0, 1_000)
    .optional()
    .describe(
      'Number of definitions of its last registration. Sent by a worker that has registered again, ' +
        'because another server may remember the former ones.',
    ),
  holding: list(Held, 0, HELD_MAX)
    .optional()
    .describe(
      'Everything it runs. Sent after a turn without an answer: the answer has the jobs that it ' +
        'owns and does not hold, with the same claims, and no others.',
    ),
});

export type RegisterRequest = z.infer<typeof RegisterBody>;
export type TurnRequest = z.infer<typeof TurnBody>;
export type ReportedOutcome = z.infer<typeof Reported>;
export type HeldClaim = z.infer<typeof Held>;

const Delivered = z.looseObject({
  id: z.string(),
  claim: z.int().describe('Number of the claim; part of every call about the job.'),
  attempt: z.int(),
  maxAttempts: z.int(),
  key: z.string(),
  version: z.int(),
  paramsJson: z.string().describe('The params, as JSON text.'),
  paramsShape: z
    .int()
    .optional()
    .describe('The shape of the params; absent for 1. A worker upgrades an older one.'),
  timeoutMs: z.number(),
  interruptions: z.int(),
  traceparent: z.string().nullable(),
  saved: z
    .looseObject({
      checkpointJson: z.string().nullable(),
      steps: z.array(
        z.looseObject({
          name: z.string(),
          valueJson: z.string(),
          ageMs: z.number().describe("How long ago it was stored, by the database's clock."),
        }),
      ),
    })
    .nullable()
    .describe('What earlier attempts stored.'),
  secrets: z
    .record(z.string(), z.string())
    .optional()
    .describe('Secrets of the job, by name: its environment variables. Absent: it has none.'),
});

export const TurnAnswer = z.looseObject({
  settled: z
    .array(
      z.looseObject({
        id: z.string(),
        claim: z.int(),
        next: z.string().nullable().describe('State of the job; null: the outcome does not count.'),
      }),
    )
    .describe('Outcomes that need not be sent again. Others must be.'),
  jobs: z.array(Delivered).describe('Jobs to run.'),
  beat: z.boolean().describe('Send a heartbeat now: its answer has news.'),
  deployments: z
    .boolean()
    .optional()
    .describe(
      'True: releases changed, so list the deployments now. Workers that serve none ignore it.',
    ),
});

export type TurnReply = z.infer<typeof TurnAnswer>;
export type DeliveredJob = z.infer<typeof Delivered>;

/** Body of `POST /v1/workers/{instance}/beat`. */
export const BeatBody = closed({
  holding: list(Held, 0, HELD_MAX).default([]).describe('Everything it runs.'),
  leaseMs: leaseMs.optional(),
});

export type BeatRequest = z.infer<typeof BeatBody>;

export const BeatAnswer = z.looseObject({
  cancel: z.array(z.string()).describe('Held jobs to stop: a cancel was requested.'),
  gone: z.array(z.string()).describe('Held jobs that it no longer owns: stop them at once.'),
  unheld: z
    .array(z.looseObject({ id: z.string(), claim: z.int(), attempt: z.int() }))
    .describe('Jobs that it owns and does not hold.'),
  drain: z.boolean().describe('Finish the running jobs and leave.'),
});

export type BeatReply = z.infer<typeof BeatAnswer>;

const about = { id: jobId, claim };
const n = whole(0, PID_MAX).describe('Counts up within the claim; a repeated number is ignored.');
const ageMs = number(0, AGE_MS_MAX).describe('How long ago it happened.');

/** Body of `POST /v1/workers/{instance}/say`. */
export const SayBody = closed({
  masked,
  logs: list(
    closed({
      ...about,
      n,
      lines: list(
        closed({
          level: z.enum(LEVELS),
          stream: z.enum(LOG_STREAMS).default('logger'),
          message: z.string().max(65_536),
          ageMs,
        }),
        1,
        SAID_MAX,
      ),
    }),
    0,
    SAID_MAX,
  ).default([]),
  events: list(
    closed({
      ...about,
      n,
      type: z.enum(['custom', 'hook', 'progress', 'step']).default('custom'),
      payloadJson: z.string().max(65_536).describe('{"name": …, "payload": …}'),
      ageMs,
    }),
    0,
    SAID_MAX,
  ).default([]),
  streams: list(
    closed({
      ...about,
      n: whole(0, PID_MAX).describe('0, 1, 2 …: counts the chunks of the claim without a gap.'),
      // Masked text may be longer than the text was.
      text: z
        .string()
        .min(1)
        .max(2 * STREAM_CHUNK_CHARS),
    }),
    0,
    SAID_MAX,
  )
    .default([])
    .describe('Live output of jobs. A repeated number is ignored.'),
  progress: list(
    closed({ ...about, fraction: number(0, 1), message: z.string().max(1_000).nullable() }),
    0,
    SAID_MAX,
  ).default([]),
  steps: list(
    closed({
      ...about,
      name: text(200)
        .refine((name) => !isServerStep(name), { error: 'is a name that only the server stores' })
        .nullable()
        .describe('Name of the step; null is the checkpoint.'),
      valueJson: z.string().max(1_048_576),
      durationMs: whole(0, 2 ** 31 - 1)
        .nullable()
        .optional()
        .describe('How long the step ran, in whole milliseconds.'),
    }),
    0,
    100,
  ).default([]),
});

export type SayRequest = z.infer<typeof SayBody>;

export const SayAnswer = z.looseObject({
  stale: z.array(z.string()).describe('Jobs that the worker does not own; nothing was stored.'),
});

/** Body of `POST /v1/workers/{instance}/spawn`. */
export const SpawnBody = closed({
  id: jobId,
  claim,
  children: list(
    closed({
      name: text(CHILD_NAME_MAX).describe(
        'Its name among the children of the job: `#1`, `#2` … in the order of calls, or a name of the author.',
      ),
      job: z
        .record(z.string(), z.unknown())
        .describe('As for `POST /v1/jobs`, without keys, `unique`, `hold` and `after`.'),
    }),
    1,
    SPAWN_MAX,
  ),
});

export type SpawnRequestBody = z.infer<typeof SpawnBody>;

export const SpawnAnswer = z.looseObject({
  problem: z.string().nullable().describe('Why nothing was stored, for the code of the job.'),
  spawned: z
    .array(
      z.looseObject({
        id: z.string(),
        position: z.int().describe('Its place among all children of the job.'),
        differs: z
          .literal(true)
          .optional()
          .describe('It existed with another definition or other params, and stays as it is.'),
        warning: z.string().optional().describe('For the log of the job.'),
      }),
    )
    .optional()
    .describe('The children, in the order of the request.'),
});

export type SpawnReply = z.infer<typeof SpawnAnswer>;

const Served = z.looseObject({
  number: z.int().describe('Its number, which is the version of its definitions.'),
  tenant: z.string().describe('Its owner: the tenant of the key, or `default`.'),
  sha256: z.string().describe('SHA-256 of its archive.'),
  format: z.enum(['tar.gz', 'zip']),
  bytes: z.int().describe('Size of the archive.'),
  manifest: z.unknown().describe('Its definitions, as in `longshore.json`.'),
  signature: z.unknown().describe('Signature of the archive; null: it is not signed.'),
});

export const ServedAnswer = z.looseObject({
  deployments: z
    .array(Served)
    .describe('What new jobs get, and older ones that have jobs which can start.'),
});

export type ServedReply = { deployments: z.infer<typeof Served>[] };

export const InstanceParams = z.object({
  workerId: z
    .string()
    .describe('The id of the worker, a UUID that it makes at its start.')
    .meta({ examples: ['6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10'] }),
});
