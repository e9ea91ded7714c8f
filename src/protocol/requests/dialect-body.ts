import { z } from 'zod';
import { PRIORITY_WORDS, type PriorityWord } from '../../core/views/dialect.ts';
import { PARAMS_MAX_BYTES, PARAMS_MAX_DEPTH, PARAMS_MAX_KEYS } from '../../core/job/params.ts';
import { closed, definitionKey, flag, instant, oneOf, text } from '../fields.ts';
import { IDEMPOTENCY_KEY_MAX } from './job-body.ts';

/** What the doors of the seeds take: fewer fields than `/v1`, under other names. */
const payload = z
  .unknown()
  .optional()
  .describe(
    `Any JSON: at most ${PARAMS_MAX_BYTES} bytes, ${PARAMS_MAX_DEPTH} levels and ` +
      `${PARAMS_MAX_KEYS} keys in all. Default {}.`,
  );

const idempotencyKey = text(IDEMPOTENCY_KEY_MAX)
  .optional()
  .describe('The same key again answers with the same job, whatever else the request says.');

export const IntentBody = closed({
  jobType: definitionKey().meta({
    description: 'Which definition to run.',
    examples: ['SEND_EMAIL'],
  }),
  payload,
  idempotencyKey,
});

export const QueueBody = closed({
  type: definitionKey().meta({ description: 'Which definition to run.', examples: ['resize'] }),
  payload,
});

export const EnqueueBody = closed({
  type: definitionKey().meta({
    description: 'Which definition to run.',
    examples: ['webhook_delivery'],
  }),
  payload,
  idempotencyKey,
  runAt: instant().optional().describe('Not before this time.'),
  priority: oneOf('priority', Object.keys(PRIORITY_WORDS) as [PriorityWord, ...PriorityWord[]])
    .optional()
    .describe('low, normal (the default) or high: -10, 0 and 10 in /v1.'),
  skipValidation: flag()
    .optional()
    .describe('Do not hold the payload against the schema now; before it runs it is, always.'),
});
