import { z } from 'zod';
import { SIGNAL_NAME_MAX } from '../../core/job/signal.ts';
import { HOUR_MS } from '../../core/values/duration.ts';
import { closed, definitionKey, flag, number, oneOf, text, whole } from '../../protocol/fields.ts';
import { findJob } from '../find.ts';
import { tool, ToolError } from '../tool.ts';
import { facts } from '../text/facts.ts';
import { jobRow } from '../text/job-facts.ts';

const SAMPLE = 3;
const jobId = text(36).describe('The id of the job, or the beginning or end of it.');

export const retryJob = tool({
  name: 'retry_job',
  title: 'Retry a job',
  description:
    'Runs a failed or cancelled job again, or a retrying one now. Find out first why it failed: ' +
    'explain_job.',
  scope: 'jobs:write',
  effect: 'adds',
  idempotent: false,
  input: closed({
    jobId,
    mode: oneOf('mode', ['now', 'reset'])
      .default('now')
      .describe('reset also forgets attempts, steps and checkpoint. Default now.'),
    params: z.unknown().optional().describe('Replaces the params.'),
    version: oneOf('version', ['same', 'current'])
      .default('same')
      .describe('current: the code that a new job gets. Default same.'),
  }),
  run: async ({ jobId: typed, mode, params, version }, { client }) => {
    const id = await findJob(client, typed);
    const how = { mode, version, ...(params !== undefined && { params }) };
    const { status } = await client.retry(id, how);
    return { done: 'It runs again; explain_job shows how it goes.', jobId: id, status };
  },
});

export const retryFailures = tool({
  name: 'retry_failures',
  title: 'Retry many failed jobs',
  description:
    'Retries all failed jobs of an error group, definition or error code in the background. ' +
    'Without confirm it changes nothing and says how many jobs match: do that first.',
  scope: 'jobs:write',
  effect: 'adds',
  idempotent: false,
  input: closed({
    fingerprint: text(100).optional().describe('An error group of find_failures.'),
    definition: definitionKey().optional().describe('Only failures of this definition.'),
    errorCode: text(100).optional().describe('Only failures with this code, like TIMEOUT.'),
    hours: whole(1, 2_160).optional().describe('Only failures of the last hours.'),
    ratePerSecond: number(0.01, 10_000).optional().describe('The most retries per second.'),
    confirm: flag().default(false).describe('true: retry them. Default: only count them.'),
  }),
  run: async (args, { client, now }) => {
    const { fingerprint, definition, errorCode, hours, ratePerSecond, confirm } = args;
    if (fingerprint === undefined && definition === undefined && errorCode === undefined) {
      throw new ToolError('Say which failures: give fingerprint, definition or errorCode.');
    }
    const from = hours === undefined ? undefined : new Date(now().getTime() - hours * HOUR_MS);
    const filter = { fingerprint, definitionKey: definition, errorCode, from };
    if (confirm) {
      const { bulkId, status } = await client.deadLetters.retry(filter, { ratePerSecond });
      const done = 'The retry runs in the background; find_failures shows what fails again.';
      return { done, bulkId, status };
    }
    const { matched, matchedIsExact, sample } = await client.deadLetters.previewRetry(filter);
    return facts({
      preview: 'Nothing was changed. Call again with confirm = true to retry them.',
      matched: matchedIsExact ? matched : `${matched} or more`,
      sample: sample.slice(0, SAMPLE).map((job) => jobRow(job, now())),
    });
  },
});

export const signalJob = tool({
  name: 'signal_job',
  title: 'Send a signal to a job',
  description:
    'Sends a signal that a suspended job waits for; explain_job names it. A signal may be the ' +
    'decision of a person: send one only if a person asked you to.',
  scope: 'jobs:write',
  effect: 'adds',
  idempotent: true,
  input: closed({
    jobId,
    signal: text(SIGNAL_NAME_MAX).describe('The name of the signal.'),
    payload: z.unknown().optional().describe('What the job gets, as JSON. Default null.'),
  }),
  run: async ({ jobId: typed, signal, payload = null }, { client }) => {
    const id = await findJob(client, typed);
    const { status, duplicate, warnings = [] } = await client.signal(id, signal, payload);
    return facts({
      done: duplicate ? 'The job had this signal already.' : 'The signal is stored.',
      jobId: id,
      status,
      warnings: warnings.map(({ detail }) => detail),
    });
  },
});

export const cancelJob = tool({
  name: 'cancel_job',
  title: 'Cancel a job',
  description: 'Cancels a job that has not ended. A running one is asked to stop, then killed.',
  scope: 'jobs:write',
  effect: 'ends',
  idempotent: true,
  input: closed({ jobId }),
  run: async ({ jobId: typed }, { client }) => {
    const id = await findJob(client, typed);
    const { status } = await client.cancel(id);
    const done = status === 'cancelled' ? 'It is cancelled.' : 'It was asked to stop.';
    return { done, jobId: id, status };
  },
});
