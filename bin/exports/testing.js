/** `longshore/testing` of a checkout. A package exports its built files. */
import { load } from './load.js';

export const { assertEnqueued, createTestRig, enqueuedOf, faulty, runBatch, runJob } =
  await load('testing/index');
