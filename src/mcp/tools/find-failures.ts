import type { DeadLetterGroup, Longshore, PublishedDefinition } from '../../client/index.ts';
import { HOUR_MS } from '../../core/values/duration.ts';
import { closed, definitionKey, text, whole } from '../../protocol/fields.ts';
import { jobIfAny } from '../find.ts';
import { tool } from '../tool.ts';
import { clamp } from '../text/clamp.ts';
import { type Facts, facts } from '../text/facts.ts';
import { errorFacts, jobRow } from '../text/job-facts.ts';
import { helpFor } from '../text/next-step.ts';
import { ownersOf } from '../text/owners.ts';
import { howOften } from './explain-job.ts';

const HOURS_DEFAULT = 24;
const HOURS_MAX = 24 * 90;
const LIMIT_DEFAULT = 10;
const MESSAGE_MAX = 300;
/** The newest failure of that many groups is read, to show its place in the code. */
const EXAMPLES = 3;
const TREND_PARTS = 12;

export const findFailures = tool({
  name: 'find_failures',
  title: 'Find failures',
  description:
    'Finds what failed for good (dead letters), grouped by error, the most frequent first: how ' +
    'often, since when, which definitions, who owns them, the runbook and one job as an example; ' +
    `trend counts the failures in ${TREND_PARTS} equal parts of the window, the oldest first. ` +
    'With a fingerprint it lists the failed jobs of that group. Start here for "what failed?".',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({
    hours: whole(1, HOURS_MAX)
      .default(HOURS_DEFAULT)
      .describe(`Only failures of the last hours. Default ${HOURS_DEFAULT}.`),
    definition: definitionKey().optional().describe('Only failures of this definition.'),
    errorCode: text(100).optional().describe('Only failures with this code, like TIMEOUT.'),
    fingerprint: text(100).optional().describe('One group: lists its failed jobs.'),
    limit: whole(1, 50)
      .default(LIMIT_DEFAULT)
      .describe(`The most groups, or jobs. Default ${LIMIT_DEFAULT}.`),
    cursor: text(200).optional().describe('With a fingerprint: nextCursor of the previous answer.'),
  }),
  run: async ({ hours, definition, errorCode, fingerprint, limit, cursor }, { client, now }) => {
    const from = new Date(now().getTime() - hours * HOUR_MS);
    const filter = { from, definitionKey: definition, errorCode };
    const window = `the last ${hours} h`;
    if (fingerprint !== undefined) {
      const page = await client.deadLetters.list({ ...filter, fingerprint, limit, cursor });
      return facts({
        window,
        fingerprint,
        jobs: page.jobs.map((job) => jobRow(job, now())),
        nextCursor: page.nextCursor,
        none: page.jobs.length === 0 ? 'No such failures: widen hours.' : null,
      });
    }
    const [{ groups, complete }, definitions] = await Promise.all([
      client.deadLetters.groups({ ...filter, limit, buckets: TREND_PARTS }),
      client.definitions(),
    ]);
    const total = groups.reduce((sum, { count }) => sum + count, 0);
    return facts({
      window,
      summary:
        groups.length === 0
          ? `No job failed for good in ${window}. To look further back, raise hours.`
          : `${total.toLocaleString('en')} failed jobs in ${groups.length} groups of errors.`,
      groups: await Promise.all(
        groups.map(async (group, index) => ({
          ...groupFacts(group, definitions),
          example: index < EXAMPLES ? await exampleOf(client, group) : { jobId: group.jobId },
        })),
      ),
      more: complete ? null : 'There are more groups: raise limit, or filter by definition.',
    });
  },
});

function groupFacts(group: DeadLetterGroup, definitions: readonly PublishedDefinition[]): Facts {
  const { code, message, trend } = group;
  return facts({
    error: `${code}: ${clamp(message, MESSAGE_MAX)}`,
    ...howOften(group),
    // Equal parts of the window, the oldest first.
    trend: trend.join(' '),
    definitions: group.definitionKeys,
    ...ownersOf(group.definitionKeys, definitions),
    usuallyHelps: helpFor(code),
  });
}

/** The newest failed job of a group, with its place in the code and its cause. */
async function exampleOf(client: Longshore, { jobId }: DeadLetterGroup): Promise<Facts> {
  const job = await jobIfAny(client, jobId);
  const { at = null, cause = null } = errorFacts(job?.error ?? null) ?? {};
  const attempts = job && `${job.attempts} of ${job.maxAttempts}`;
  return facts({ jobId, attempts, at, cause });
}
