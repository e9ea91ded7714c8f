import { until } from '../../test/support/until.ts';
import type { Weather } from '../world/channel.ts';
import type { Slot } from '../world/slot.ts';
import type { World } from '../world/world.ts';
import type { Fault, Injection } from './fault.ts';
import { sprung } from './trap.ts';

const PATIENCE_MS = 300_000;

/** The network between one server and the database. */
function onLink(
  slots: readonly Slot[],
  world: World,
  pick: number,
  spoil: (slot: Slot) => void,
): Injection | null {
  const slot = world.choose(slots, pick);
  if (!slot) return null;
  spoil(slot);
  return { targets: [slot.name], heal: async () => slot.link.clear() };
}

function weatherOf(
  kind: string,
  number: string,
  what: string,
  holdMs: Fault['holdMs'],
  weather: (pick: number) => Weather,
): Fault {
  return {
    kind,
    number,
    what,
    holdMs,
    inject: async (world, pick) =>
      onLink(world.slots, world, pick, ({ link }) => link.setWeather(weather((pick * 13) % 1))),
  };
}

const linkReset: Fault = {
  kind: 'link-reset',
  number: 'F7',
  what: 'RST on every connection of one server to the database',
  holdMs: [0, 100],
  inject: async (world, pick) => onLink(world.slots, world, pick, ({ link }) => link.resetAll()),
};

const linkRefuse: Fault = {
  kind: 'link-refuse',
  number: 'F12',
  what: 'one server is cut off: its connections are ended and new ones refused',
  holdMs: [2_000, 6_000],
  inject: async (world, pick) => onLink(world.slots, world, pick, ({ link }) => link.refuse()),
};

/** How many connections are refused before the way is free. */
const REFUSALS = 3;

/** A server that starts is not let in, however long it takes until it asks. */
const firstContact: Fault = {
  kind: 'first-contact-refused',
  number: 'F12',
  what: 'a server that starts finds its database out of reach, three times',
  holdMs: [0, 0],
  inject: async (world, pick) => {
    const starting = world.slots.filter((slot) => slot.pid !== undefined && !slot.isUp);
    const slot = world.choose(starting, pick);
    if (!slot) return null;
    const { link, name } = slot;
    const enough = link.refused + REFUSALS;
    link.refuse();
    const heal = async () => {
      const over = () => link.refused >= enough || slot.isUp;
      await until(`${name} has asked for its database`, over, PATIENCE_MS).finally(() =>
        link.clear(),
      );
    };
    return { targets: [name], heal };
  },
};

/** Begins with a write of a worker that is just on its way. */
async function stall(world: World, pick: number, statements: string[]): Promise<Injection | null> {
  const slot = world.choose(world.directWorkers, pick);
  if (!slot) return null;
  const { name, link } = slot;
  const note = await sprung(link, (onSprung) => link.armStall({ statements, onSprung }));
  return note === null ? null : { targets: [name], note, heal: async () => link.clear() };
}

/** The write arrives after the lease, when another worker has the job. Fencing must refuse it. */
function stallOf(kind: string, what: string, statements: string[]): Fault {
  return {
    kind,
    number: 'F12',
    what: `${what} is held up beyond the lease of its worker, and then arrives after all`,
    holdMs: [4_500, 7_000],
    inject: async (world, pick) => await stall(world, pick, statements),
  };
}

/** The write arrives while the lease still holds, and what it was decided on may have changed. */
const linkHiccup: Fault = {
  kind: 'link-hiccup',
  number: 'F13',
  what: 'an outcome is held up for a second, within the lease',
  holdMs: [500, 1_200],
  inject: async (world, pick) => await stall(world, pick, ['settle']),
};

const listenBlackhole: Fault = {
  kind: 'listen-blackhole',
  number: 'F9',
  what: 'the connection on which a worker listens for hints is open, and dead',
  holdMs: [2_000, 6_000],
  inject: async (world, pick) =>
    onLink(world.directWorkers, world, pick, ({ link }) =>
      link.setWeather({ kind: 'blackhole' }, isListener),
    ),
};

export function isListener(application: string): boolean {
  return application === 'longshore listen';
}

export const LINK_FAULTS: readonly Fault[] = [
  weatherOf('link-delay', 'F13', 'latency of 50 to 300 ms with jitter', [2_000, 5_000], (pick) => ({
    kind: 'delay',
    ms: 50 + pick * 100,
    jitterMs: 150,
  })),
  weatherOf('link-throttle', 'F13', 'a link of 50 kB/s', [2_000, 5_000], () => ({
    kind: 'throttle',
    bytesPerSecond: 50_000,
  })),
  weatherOf(
    'link-blackhole',
    'F8',
    'half-open: all traffic of one server is dropped, both ways',
    [2_000, 6_000],
    () => ({ kind: 'blackhole' }),
  ),
  linkReset,
  linkRefuse,
  firstContact,
  stallOf('success-stall', 'a batch of successes', ['settle_and_claim']),
  stallOf('outcome-stall', 'a batch of other outcomes', ['settle']),
  stallOf('progress-stall', 'the progress of jobs', ['progress']),
  linkHiccup,
  listenBlackhole,
];
