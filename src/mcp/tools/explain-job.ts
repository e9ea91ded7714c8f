import type { DeadLetterGroup, Job, Longshore } from '../../client/index.ts';
import { newestVersions } from '../../core/definition/owners.ts';
import { fingerprintOf } from '../../core/failure/fingerprint.ts';
import { sentence } from '../../core/views/sentence.ts';
import { type Explanation, whyNotRunning } from '../../core/views/why-not-running.ts';
import { closed, text } from '../../protocol/fields.ts';
import { findJob } from '../find.ts';
import { tool } from '../tool.ts';
import { clamp, shownValue } from '../text/clamp.ts';
import { type Facts, facts } from '../text/facts.ts';
import { attemptRow, errorFacts, warningsOf } from '../text/job-facts.ts';
import { nextStep } from '../text/next-step.ts';

const SENTENCE_MAX = 400;
const VALUE_MAX = 1_500;
const ATTEMPTS = 5;

export const explainJob = tool({
  name: 'explain_job',
  title: 'Explain a job',
  description:
    'Explains one job: its state in a sentence, why it does not run or whether it is stuck, its ' +
    'error with the place in the code, how often the same error occurred, its attempts, owner, ' +
    'runbook and the next step. Start here for any question about one job.',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({
    jobId: text(36).describe('The id of the job, or the beginning or end of it.'),
  }),
  run: async ({ jobId: typed }, { client, now }) => {
    const jobId = await findJob(client, typed);
    const [job, attempts, workers, definitions, pauses, tenant] = await Promise.all([
      client.get(jobId),
      client.attempts(jobId),
      client.workers(),
      client.definitions(),
      client.flow.pauses(),
      client.tenant(),
    ]);
    const related = job.waitsFor?.jobs ? await client.related(jobId) : undefined;
    const jobs = { parents: related?.parents, children: related };
    const why = whyNotRunning(job, { workers, definitions, pauses, tenant, ...jobs }, now());
    const definition = newestVersions(definitions).find(({ key }) => key === job.definitionKey);
    return facts({
      jobId,
      definition: job.definitionKey,
      version: job.definitionVersion,
      status: job.status,
      state: clamp(sentence(job, now()), SENTENCE_MAX),
      why: why && whyFacts(why),
      nextStep: nextStep(job, why),
      error: errorFacts(job.error),
      sameError: await sameError(client, job),
      owner: job.owner,
      runbook: definition?.runbookUrl,
      about: definition?.description,
      warnings: warningsOf(job),
      attempts: `${job.attempts} of ${job.maxAttempts}`,
      lastAttempts: attempts.slice(-ATTEMPTS).map(attemptRow),
      createdAt: job.createdAt,
      finishedAt: job.finishedAt,
      progress: job.progress && facts({ ...job.progress }),
      scheduleId: job.scheduleId,
      tags: job.tags,
      params: shownValue(job.params, job.largeParams, VALUE_MAX),
      result:
        job.status === 'succeeded' ? shownValue(job.result, job.largeResult, VALUE_MAX) : null,
    });
  },
});

function whyFacts({ tone, headline, facts: more }: Explanation): Facts {
  return facts({ stuck: tone === 'bad', reason: headline, more });
}

/** How often jobs of the same definition failed with the same error. */
async function sameError(client: Longshore, { status, error, definitionKey }: Job) {
  if (status !== 'failed' || error === null) return null;
  const fingerprint = fingerprintOf(error);
  const filter = { definitionKey, errorCode: error.code, limit: 100 };
  const { groups } = await client.deadLetters.groups(filter);
  const group = groups.find((one) => one.fingerprint === fingerprint);
  return group ? howOften(group) : null;
}

export function howOften(group: DeadLetterGroup): Facts {
  return facts({
    fingerprint: group.fingerprint,
    deadLetters: group.countIsExact ? group.count : `${group.count} or more`,
    firstSeen: group.firstSeen,
    lastSeen: group.lastSeen,
  });
}
