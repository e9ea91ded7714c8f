import type { Link } from '../world/link.ts';
import type { World } from '../world/world.ts';
import { type Fault, type Injection, nothingToHeal } from './fault.ts';
import { clientLinksOf } from './client-links.ts';
import { sprung } from './trap.ts';

/**
 * The ambiguous commit. The statement is carried out and committed, and the connection breaks before
 * the answer arrives, so the caller cannot know the result. It counts only when it has happened.
 */
async function cutOff(
  target: { name: string; link: Link } | null,
  statements: readonly string[] | null,
): Promise<Injection | null> {
  if (!target) return null;
  const { name, link } = target;
  const note = await sprung(link, (onSprung) => link.armCut({ statements, onSprung }));
  return note === null ? null : { targets: [name], note, heal: nothingToHeal };
}

function cutOf(
  kind: string,
  what: string,
  targetsOf: (world: World) => { name: string; link: Link }[],
  statements: readonly string[] | null,
): Fault {
  return {
    kind,
    number: 'F10',
    what,
    holdMs: [0, 0],
    inject: async (world, pick) => await cutOff(world.choose(targetsOf(world), pick), statements),
  };
}

export const CUT_FAULTS: readonly Fault[] = [
  cutOf(
    'worker-cut',
    'cut between COMMIT and its answer, of an outcome or a claim',
    (world) => world.directWorkers,
    ['settle_and_claim', 'settle', 'claim'],
  ),
  cutOf(
    'lease-cut',
    'cut between COMMIT and its answer, of a heartbeat',
    (world) => world.directWorkers,
    ['heartbeat'],
  ),
  cutOf(
    'api-cut',
    'cut between COMMIT and its answer, of an enqueue',
    (world) => world.ofRole('api'),
    ['enqueue', 'enqueue_plain', 'commit'],
  ),
  cutOf(
    'cancel-cut',
    'cut between COMMIT and its answer, of a cancel',
    (world) => world.ofRole('api'),
    ['cancel_waiting', 'cancel_running'],
  ),
  cutOf(
    'reaper-cut',
    'cut between COMMIT and its answer, of a promotion or a burial',
    (world) => world.ofRole('scheduler'),
    ['promote', 'bury_workers', 'settle'],
  ),
  cutOf(
    'cron-cut',
    'cut in the middle of firing a slot, after any of its steps',
    (world) => [...world.ofRole('scheduler'), ...world.directWorkers],
    ['insert_slots', 'advance_schedules', 'commit'],
  ),
  cutOf(
    'client-cut',
    'the answer of an API is cut off on its way to the client',
    clientLinksOf,
    null,
  ),
];
