/** `longshore/client` of a checkout. A package exports its built files. */
import { load } from './load.js';

export const {
  Conflict,
  enqueueIn,
  EnqueueError,
  Forbidden,
  IdempotencyConflict,
  InvalidRequest,
  JobFailed,
  JobHandle,
  Longshore,
  NotFound,
  ProblemError,
  RateLimited,
  ServerUnreachable,
  Unauthorized,
  Unavailable,
  verifyWebhook,
  WaitTimeout,
  WebhookNotVerified,
} = await load('client/index');
