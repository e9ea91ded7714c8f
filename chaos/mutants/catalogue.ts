import { unknownName } from '../../src/core/values/nearest.ts';
import { BATCH_MUTANTS } from './batches.ts';
import { CHILD_MUTANTS } from './children.ts';
import { CLAIM_MUTANTS } from './claims.ts';
import { DEPLOYMENT_MUTANTS } from './deployments.ts';
import { ENQUEUE_MUTANTS } from './enqueues.ts';
import { LEASE_MUTANTS } from './leases.ts';
import { LIMIT_MUTANTS } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { PARENT_MUTANTS } from './parents.ts';
import { REMOTE_MUTANTS } from './remotes.ts';
import { SIGNAL_MUTANTS } from './signals.ts';
import { SLOT_MUTANTS } from './slots.ts';
import { START_MUTANTS } from './starts.ts';
import { TIME_MUTANTS } from './time.ts';

export const MUTANTS: readonly Mutant[] = [
  ...CLAIM_MUTANTS,
  ...LEASE_MUTANTS,
  ...ENQUEUE_MUTANTS,
  ...TIME_MUTANTS,
  ...LIMIT_MUTANTS,
  ...START_MUTANTS,
  ...REMOTE_MUTANTS,
  ...DEPLOYMENT_MUTANTS,
  ...SIGNAL_MUTANTS,
  ...PARENT_MUTANTS,
  ...CHILD_MUTANTS,
  ...BATCH_MUTANTS,
  ...SLOT_MUTANTS,
];

export function mutantOf(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found) return found;
  const names = MUTANTS.map((mutant) => mutant.name);
  throw new Error(unknownName('mutant', name, names));
}
