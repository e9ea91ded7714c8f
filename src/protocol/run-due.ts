import { z } from 'zod';
import { RUN_DUE_DEFAULTS, type RunDueBudget, type RunDueSummary } from '../core/queue/run-due.ts';
import { closed, number, whole } from './fields.ts';
import { Findings } from './findings.ts';
import { violations } from './violations.ts';

const MAX_MAX = 1_000_000;
/** Clients time out; Node's `fetch` after 300 seconds. */
const SECONDS_MAX = 240;

/** Body of `POST /api/jobs/run`. */
export const RunDueBody = closed({
  max: whole(1, MAX_MAX).default(RUN_DUE_DEFAULTS.max).describe('Maximum number of jobs.'),
  seconds: number(0, SECONDS_MAX)
    .default(RUN_DUE_DEFAULTS.seconds)
    .describe('Time budget; jobs still running then return to their queue.'),
});

export const RunDueAnswer = z.looseObject({
  claimed: z.int().describe('Number of jobs that this call started.'),
  succeeded: z.int(),
  retried: z.int().describe('Number of failed jobs that will be retried.'),
  deadLettered: z
    .int()
    .describe('Number of jobs that failed for good, including those without a worker.'),
  remaining: z.int().describe('Number of remaining due jobs, counted up to 10,000 of each kind.'),
}) satisfies z.ZodType<RunDueSummary>;

/** Without a body: the default budget. Throws a `Refusal`. */
export function parseRunDue(body: unknown): RunDueBudget {
  const read = RunDueBody.safeParse(body ?? {});
  if (read.success) return read.data;
  const findings = new Findings();
  findings.add('VALIDATION_FAILED', ...violations(read.error.issues, 'field'));
  throw findings.refusal();
}
