/** `longshore` of a checkout. A package exports its built files. */
import { load } from './load.js';

export * from './client.js';
export const {
  createLongshore,
  defineBatchJob,
  defineCommand,
  defineJob,
  NonRetryable,
  RetryAfter,
  runDueJobs,
  ChildrenFailed,
  SignalTimeout,
} = await load('index');
