import { z } from 'zod';
import { RUN_DUE_DEFAULTS, type RunDueBudget, type RunDueSummary } from '../core/queue/run-due.ts';
import { closed, number, whole } from './fields.ts';
import { Findings } from './findings.ts';
import { violations } from './violations.ts';

const MAX_MAX = 1_000_000;
/** Whoever waits for the answer gives up some day; the `fetch` of Node does after 300 seconds. */
const SECONDS_MAX = 240;

/** What `POST /api/jobs/run` takes. */
export const RunDueBody = closed({
  max: whole(1, MAX_MAX).default(RUN_DUE_DEFAULTS.max).describe('Run so many jobs at most.'),
  seconds: number(0, SECONDS_MAX)
    .default(RUN_DUE_DEFAULTS.seconds)
    .describe('Begin nothing after so long, and give back what still runs.'),
});

export const RunDueAnswer = z.looseObject({
  claimed: z.int().describe('How many jobs this call has begun.'),
  succeeded: z.int(),
  retried: z.int().describe('How many failed and will be tried again.'),
  deadLettered: z
    .int()
    .describe('How many failed for good, those that no worker has the code for included.'),
  remaining: z.int().describe('How many are due and left, counted up to 10,000 of each kind.'),
}) satisfies z.ZodType<RunDueSummary>;

/** No body is the usual budget. Throws a `Refusal`. */
export function parseRunDue(body: unknown): RunDueBudget {
  const read = RunDueBody.safeParse(body ?? {});
  if (read.success) return read.data;
  const findings = new Findings();
  findings.add('VALIDATION_FAILED', ...violations(read.error.issues, 'field'));
  throw findings.refusal();
}
