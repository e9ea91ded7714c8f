import { z } from 'zod';
import { PRIORITY_MAX } from '../../core/definition/definition.ts';
import { closed, definitionKey, text, whole } from '../../protocol/fields.ts';
import { IDEMPOTENCY_KEY_MAX, TAG_LENGTH_MAX, TAGS_MAX } from '../../protocol/requests/job-body.ts';
import { runJob } from '../run-job.ts';
import { tool } from '../tool.ts';

const WAIT_SECONDS_MAX = 300;

export const enqueueJob = tool({
  name: 'enqueue_job',
  title: 'Enqueue a job',
  description:
    'Enqueues a job of a definition. The params must fit its schema: list_definitions shows it. ' +
    'With waitSeconds it waits for the result.',
  scope: 'jobs:write',
  effect: 'adds',
  idempotent: false,
  input: closed({
    definition: definitionKey().describe('The key of the definition.'),
    params: z.unknown().optional().describe('JSON that fits the schema, usually an object.'),
    delaySeconds: whole(0, 31_536_000).default(0).describe('Run it later. Default 0.'),
    priority: whole(-PRIORITY_MAX, PRIORITY_MAX)
      .optional()
      .describe('Higher runs first. Default 0.'),
    tags: z.array(text(TAG_LENGTH_MAX)).max(TAGS_MAX).optional().describe('To find it again.'),
    idempotencyKey: text(IDEMPOTENCY_KEY_MAX)
      .optional()
      .describe('Two calls with the same key and params create one job.'),
    waitSeconds: whole(0, WAIT_SECONDS_MAX)
      .default(0)
      .describe('How long to wait for the result; the job goes on after that. Default 0.'),
  }),
  run: async (args, at) => {
    const { definition, params, delaySeconds, waitSeconds, ...options } = args;
    const delayMs = delaySeconds === 0 ? undefined : delaySeconds * 1_000;
    return await runJob(at, definition, params, { ...options, delayMs }, waitSeconds * 1_000);
  },
});
