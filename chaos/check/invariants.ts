import { attempts } from './invariants/attempts.ts';
import { calmStop } from './invariants/calm-stop.ts';
import { cancelReach } from './invariants/cancel-reach.ts';
import { cancels } from './invariants/cancels.ts';
import { cronSlots } from './invariants/cron-slots.ts';
import { deadLetters } from './invariants/dead-letters.ts';
import { drain } from './invariants/drain.ts';
import { explained } from './invariants/explained.ts';
import { fencing } from './invariants/fencing.ts';
import { honestRefusals } from './invariants/honest-refusals.ts';
import { idempotency } from './invariants/idempotency.ts';
import { integrity } from './invariants/integrity.ts';
import type { Invariant } from './invariant.ts';
import { legalMoves } from './invariants/legal-moves.ts';
import { limits } from './invariants/limits.ts';
import { noIdling } from './invariants/no-idling.ts';
import { noLeftovers } from './invariants/no-leftovers.ts';
import { noOverlap } from './invariants/no-overlap.ts';
import { noPhantom } from './invariants/no-phantom.ts';
import { notEarly } from './invariants/not-early.ts';
import { nothingLost } from './invariants/nothing-lost.ts';
import { nothingVanishes } from './invariants/nothing-vanishes.ts';
import { oneEnd } from './invariants/one-end.ts';
import { oneLease } from './invariants/one-lease.ts';
import { pickup } from './invariants/pickup.ts';
import { readYourWrites } from './invariants/read-your-writes.ts';
import { recount } from './invariants/recount.ts';
import { recovery } from './invariants/recovery.ts';
import { rescue } from './invariants/rescue.ts';
import { selfFence } from './invariants/self-fence.ts';
import { sometimes } from './invariants/sometimes.ts';
import { steadyProcesses } from './invariants/steady-processes.ts';
import { wholeBatches } from './invariants/whole-batches.ts';

/** Everything that is checked, in the order of the table in docs/reliability.md. */
export const INVARIANTS: readonly Invariant[] = [
  nothingLost,
  noPhantom,
  idempotency,
  legalMoves,
  oneEnd,
  oneLease,
  fencing,
  honestRefusals,
  attempts,
  noOverlap,
  selfFence,
  limits,
  notEarly,
  cronSlots,
  cancels,
  wholeBatches,
  integrity,
  recount,
  deadLetters,
  nothingVanishes,
  readYourWrites,
  drain,
  rescue,
  pickup,
  recovery,
  cancelReach,
  calmStop,
  noLeftovers,
  noIdling,
  steadyProcesses,
  explained,
  sometimes,
];
