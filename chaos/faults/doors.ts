import type { World } from '../world/world.ts';
import { type Fault, nothingToHeal } from './fault.ts';

/** The way of the clients to an API. */
const doorBlackhole: Fault = {
  kind: 'door-blackhole',
  number: 'F8',
  what: 'requests to one API are dropped silently',
  holdMs: [1_000, 3_000],
  inject: async (world, pick) => {
    const door = world.choose(doorsOf(world), pick);
    if (!door) return null;
    door.link.setWeather({ kind: 'blackhole' });
    return { targets: [door.name], heal: async () => door.link.clear() };
  },
};

const doorReset: Fault = {
  kind: 'door-reset',
  number: 'F7',
  what: 'RST on every connection of the clients to one API',
  holdMs: [0, 100],
  inject: async (world, pick) => {
    const door = world.choose(doorsOf(world), pick);
    door?.link.resetAll();
    return door && { targets: [door.name], heal: nothingToHeal };
  },
};

export function doorsOf({ doors }: World) {
  return [...doors].map(([slot, link]) => ({ name: `door of ${slot}`, link }));
}

export const DOOR_FAULTS: readonly Fault[] = [doorBlackhole, doorReset];
