/** `longshore/batteries` of a checkout. A package exports its built files. */
import { load } from './load.js';

export const {
  chatWebhook,
  cleanup,
  discord,
  email,
  failureOf,
  fcm,
  httpCache,
  notification,
  redisCache,
  report,
  secretOf,
  slack,
  teams,
  twilio,
  webhookDelivery,
} = await load('batteries/index');
