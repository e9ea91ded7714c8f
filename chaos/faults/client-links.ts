import type { World } from '../world/world.ts';
import { type Fault, nothingToHeal } from './fault.ts';

/** The way of the clients to an API. */
const clientBlackhole: Fault = {
  kind: 'client-blackhole',
  number: 'F8',
  what: 'requests to one API are dropped silently',
  holdMs: [1_000, 3_000],
  inject: async (world, pick) => {
    const chosen = world.choose(clientLinksOf(world), pick);
    if (!chosen) return null;
    chosen.link.setWeather({ kind: 'blackhole' });
    return { targets: [chosen.name], heal: async () => chosen.link.clear() };
  },
};

const clientReset: Fault = {
  kind: 'client-reset',
  number: 'F7',
  what: 'RST on every connection of the clients to one API',
  holdMs: [0, 100],
  inject: async (world, pick) => {
    const chosen = world.choose(clientLinksOf(world), pick);
    chosen?.link.resetAll();
    return chosen && { targets: [chosen.name], heal: nothingToHeal };
  },
};

export function clientLinksOf({ clientLinks }: World) {
  return [...clientLinks].map(([slot, link]) => ({ name: `link of clients to ${slot}`, link }));
}

export const CLIENT_LINK_FAULTS: readonly Fault[] = [clientBlackhole, clientReset];
