import { z } from 'zod';
import { PRIORITY_WORDS, type PriorityWord } from '../../core/views/dialect.ts';
import { PARAMS_MAX_BYTES, PARAMS_MAX_DEPTH, PARAMS_MAX_KEYS } from '../../core/job/params.ts';
import { closed, definitionKey, flag, instant, oneOf, text } from '../fields.ts';
import { IDEMPOTENCY_KEY_MAX } from './job-body.ts';

/** Bodies of the seed APIs: fewer fields than `/v1`, with other names. */
const payload = z
  .unknown()
  .optional()
  .describe(
    `Any JSON: at most ${PARAMS_MAX_BYTES} bytes, ${PARAMS_MAX_DEPTH} levels and ` +
      `${PARAMS_MAX_KEYS} keys in total. Default {}.`,
  );

const idempotencyKey = text(IDEMPOTENCY_KEY_MAX)
  .optional()
  .describe('The same key again returns the same job, regardless of the rest of the request.');

export const IntentBody = closed({
  jobType: definitionKey().meta({
    description: 'Key of the definition.',
    examples: ['SEND_EMAIL'],
  }),
  payload,
  idempotencyKey,
});

export const QueueBody = closed({
  type: definitionKey().meta({ description: 'Key of the definition.', examples: ['resize'] }),
  payload,
});

export const EnqueueBody = closed({
  type: definitionKey().meta({
    description: 'Key of the definition.',
    examples: ['webhook_delivery'],
  }),
  payload,
  idempotencyKey,
  runAt: instant().optional().describe('Earliest time to run.'),
  priority: oneOf('priority', Object.keys(PRIORITY_WORDS) as [PriorityWord, ...PriorityWord[]])
    .optional()
    .describe('low, normal (the default) or high: -10, 0 and 10 in /v1.'),
  skipValidation: flag()
    .optional()
    .describe('Do not validate the payload now; it is always validated before the job runs.'),
});
