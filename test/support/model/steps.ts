import type fc from 'fast-check';
import {
  addToBatchStep,
  cancelBatchStep,
  closeBatchStep,
  endBatchStep,
  storeBatchStep,
} from './batch-steps.ts';
import {
  becomesDueStep,
  cancelChildStep,
  cancelStep,
  expireStep,
  promoteStep,
  publishStep,
  releaseStep,
  unservedStep,
} from './change-steps.ts';
import {
  claimLimitedStep,
  claimStep,
  findLevelsStep,
  refillStep,
  turnStep,
} from './claim-steps.ts';
import { spawnStep } from './child-steps.ts';
import { enqueueLimitedStep, enqueueStep } from './enqueue-steps.ts';
import { enqueueUniqueStep } from './unique-steps.ts';
import { deleteStep, retryStep } from './done-steps.ts';
import { enqueueAfterStep, resolveStep } from './parent-steps.ts';
import { getStep, listStep } from './read-steps.ts';
import { settlementStatusStep, progressStep, settleStep } from './settle-steps.ts';
import { signalStep } from './signal-steps.ts';
import type { Step } from './step.ts';
import {
  buryStep,
  drainStep,
  findOrphansStep,
  forgetStep,
  heartbeatStep,
  leaseEndsStep,
  reapStep,
  registerStep,
  retireStep,
} from './worker-steps.ts';

/** What a run is made of, and how often each step comes. */
const SHARES: [share: number, step: fc.Arbitrary<Step>][] = [
  [7, enqueueStep],
  [8, enqueueLimitedStep],
  [6, enqueueUniqueStep],
  [10, claimStep],
  [9, claimLimitedStep],
  [1, refillStep],
  [5, turnStep],
  [1, findLevelsStep],
  [12, settleStep],
  [2, settlementStatusStep],
  [2, progressStep],
  [5, cancelStep],
  [3, releaseStep],
  [5, signalStep],
  [4, enqueueAfterStep],
  [2, resolveStep],
  [3, spawnStep],
  [2, cancelChildStep],
  [3, storeBatchStep],
  [2, addToBatchStep],
  [2, closeBatchStep],
  [2, endBatchStep],
  [1, cancelBatchStep],
  [3, expireStep],
  [2, unservedStep],
  [1, publishStep],
  [5, retryStep],
  [2, deleteStep],
  [6, becomesDueStep],
  [5, promoteStep],
  [3, heartbeatStep],
  [2, leaseEndsStep],
  [4, registerStep],
  [1, drainStep],
  [1, retireStep],
  [1, buryStep],
  [3, findOrphansStep],
  [2, reapStep],
  [1, forgetStep],
  [2, getStep],
  [2, listStep],
];

export const STEPS = SHARES.flatMap(([share, step]) => Array.from({ length: share }, () => step));
