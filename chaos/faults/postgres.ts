import type { World } from '../world/world.ts';
import type { Fault, Injection } from './fault.ts';
import { signalled } from './processes.ts';

/** Faults of the database as a whole; one at a time. */
async function onPostgres(
  world: World,
  strike: () => Promise<boolean> | boolean,
  undo: () => Promise<void> | void = () => undefined,
): Promise<Injection | null> {
  if (world.isBusy('postgres') || !(await strike())) return null;
  const heal = async () => {
    await undo();
    await world.database.back();
  };
  return { targets: ['postgres'], heal };
}

function signalOf(kind: string, signal: NodeJS.Signals, what: string): Fault {
  return {
    kind,
    number: 'F5',
    what,
    holdMs: [0, 500],
    inject: async (world) =>
      await onPostgres(world, () => {
        const { postmaster } = world.database;
        return postmaster !== undefined && signalled(postmaster, signal);
      }),
  };
}

const backendKill: Fault = {
  kind: 'backend-kill',
  number: 'F5',
  what: 'kill -9 of one PostgreSQL backend, after which PostgreSQL ends all connections',
  holdMs: [0, 500],
  inject: async (world, pick) =>
    await onPostgres(world, () => {
      const [, ...backends] = world.database.processes;
      const victim = backends[Math.floor(pick * backends.length)];
      return victim !== undefined && signalled(victim, 'SIGKILL');
    }),
};

const postgresFreeze: Fault = {
  kind: 'postgres-freeze',
  number: 'F6',
  what: 'SIGSTOP of all PostgreSQL processes, for longer than a lease',
  holdMs: [4_000, 6_000],
  inject: async (world) => {
    let frozen: number[] = [];
    return await onPostgres(
      world,
      () => {
        frozen = world.database.processes;
        for (const pid of frozen) signalled(pid, 'SIGSTOP');
        return frozen.length > 0;
      },
      () => {
        for (const pid of frozen) signalled(pid, 'SIGCONT');
      },
    );
  },
};

const diskFull: Fault = {
  kind: 'disk-full',
  number: 'F23',
  what: 'the disk of the database is full, to the last page',
  holdMs: [2_000, 4_000],
  impossible: ({ disk }) => (typeof disk === 'string' ? disk : null),
  inject: async (world) => {
    const { disk } = world;
    if (typeof disk === 'string') return null;
    const strike = async () => {
      await disk.fill();
      return true;
    };
    return await onPostgres(world, strike, async () => await disk.free());
  },
};

export const POSTGRES_FAULTS: readonly Fault[] = [
  signalOf('postmaster-kill', 'SIGKILL', 'kill -9 of the postmaster'),
  signalOf('postgres-immediate', 'SIGQUIT', 'immediate shutdown: no checkpoint, recovery at start'),
  signalOf('postgres-fast', 'SIGINT', 'fast shutdown: every connection is ended'),
  backendKill,
  postgresFreeze,
  diskFull,
];
