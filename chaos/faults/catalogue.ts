import { unknownName } from '../../src/core/values/nearest.ts';
import { CALL_FAULTS } from './calls.ts';
import { CUT_FAULTS } from './cuts.ts';
import { CLIENT_LINK_FAULTS } from './client-links.ts';
import type { Fault } from './fault.ts';
import { LINK_FAULTS } from './links.ts';
import { POSTGRES_FAULTS } from './postgres.ts';
import { PROCESS_FAULTS } from './processes.ts';
import { REDIS_FAULTS } from './redis.ts';
import { RESOURCE_FAULTS } from './resources.ts';

/** Every kind of fault that can be injected. */
export const FAULTS: readonly Fault[] = [
  ...PROCESS_FAULTS,
  ...POSTGRES_FAULTS,
  ...LINK_FAULTS,
  ...CLIENT_LINK_FAULTS,
  ...CUT_FAULTS,
  ...CALL_FAULTS,
  ...RESOURCE_FAULTS,
  ...REDIS_FAULTS,
];

export function faultOf(kind: string): Fault {
  const found = FAULTS.find((fault) => fault.kind === kind);
  if (found) return found;
  const kinds = FAULTS.map((fault) => fault.kind);
  throw new Error(unknownName('kind of fault', kind, kinds));
}
