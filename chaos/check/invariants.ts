import { attempts } from './invariants/safety/attempts.ts';
import { batches } from './invariants/together/batches.ts';
import { children } from './invariants/safety/children.ts';
import { calmStop } from './invariants/liveness/calm-stop.ts';
import { cancelReach } from './invariants/liveness/cancel-reach.ts';
import { cancels } from './invariants/liveness/cancels.ts';
import { cronSlots } from './invariants/safety/cron-slots.ts';
import { deadLetters } from './invariants/safety/dead-letters.ts';
import { drain } from './invariants/liveness/drain.ts';
import { explained } from './invariants/safety/explained.ts';
import { fencing } from './invariants/safety/fencing.ts';
import { groups } from './invariants/together/groups.ts';
import { honestRefusals } from './invariants/safety/honest-refusals.ts';
import { idempotency } from './invariants/safety/idempotency.ts';
import { integrity } from './invariants/safety/integrity.ts';
import type { Invariant } from './invariant.ts';
import { keptDeployments } from './invariants/deployments/kept-deployments.ts';
import { legalMoves } from './invariants/safety/legal-moves.ts';
import { limits } from './invariants/safety/limits.ts';
import { noIdling } from './invariants/liveness/no-idling.ts';
import { noLeftovers } from './invariants/liveness/no-leftovers.ts';
import { noOverlap } from './invariants/safety/no-overlap.ts';
import { noPhantom } from './invariants/safety/no-phantom.ts';
import { notEarly } from './invariants/safety/not-early.ts';
import { nothingLost } from './invariants/safety/nothing-lost.ts';
import { nothingVanishes } from './invariants/safety/nothing-vanishes.ts';
import { oneEnd } from './invariants/safety/one-end.ts';
import { oneLease } from './invariants/safety/one-lease.ts';
import { ownCode } from './invariants/deployments/own-code.ts';
import { pickup } from './invariants/liveness/pickup.ts';
import { readYourWrites } from './invariants/safety/read-your-writes.ts';
import { recount } from './invariants/safety/recount.ts';
import { recovery } from './invariants/liveness/recovery.ts';
import { releasedVersion } from './invariants/deployments/released-version.ts';
import { rescue } from './invariants/liveness/rescue.ts';
import { selfFence } from './invariants/safety/self-fence.ts';
import { sometimes } from './invariants/liveness/sometimes.ts';
import { stalled } from './invariants/liveness/stalled.ts';
import { steadyProcesses } from './invariants/liveness/steady-processes.ts';
import { parents } from './invariants/safety/parents.ts';
import { sleeps } from './invariants/safety/sleeps.ts';
import { slots } from './invariants/together/slots.ts';
import { signals } from './invariants/safety/signals.ts';
import { wholeBatches } from './invariants/safety/whole-batches.ts';

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
  ownCode,
  releasedVersion,
  keptDeployments,
  signals,
  parents,
  children,
  batches,
  slots,
  groups,
  sleeps,
  drain,
  rescue,
  pickup,
  recovery,
  cancelReach,
  calmStop,
  noLeftovers,
  noIdling,
  stalled,
  steadyProcesses,
  explained,
  sometimes,
];
