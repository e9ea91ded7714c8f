import { setTimeout as pause } from 'node:timers/promises';
import { descendants } from '../../test/support/processes.ts';
import { OPEN_CALLS } from '../check/remote-slots.ts';
import type { Role, Slot } from '../world/slot.ts';
import { workerProcessesOf } from '../world/worker-processes.ts';
import type { World } from '../world/world.ts';
import { type Fault, type Injection, nothingToHeal } from './fault.ts';

const BRIEF = [0, 1_500] as const;
const LOOK_MS = 25;
/** A busy machine takes a minute to start a server. */
const PATIENCE_MS = 120_000;
/** Leases of a run are 3 s: a freeze of this long outlives them. */
const BEYOND_THE_LEASE = [4_500, 7_500] as const;

function killOf(role: Role, number: string): Fault {
  return {
    kind: `${role}-kill`,
    number,
    what: `kill -9 of a process of role ${role}`,
    holdMs: BRIEF,
    inject: async (world, pick) => {
      const slots = alive(world.ofRole(role));
      // A kill in the middle of a call shows more.
      const called = slots.filter((one) => openCalls(world, one) > 0);
      const slot = world.choose(called, pick) ?? world.choose(slots, pick);
      const open = slot ? openCalls(world, slot) : 0;
      const pid = slot?.signal('SIGKILL');
      if (!slot || pid === undefined) return null;
      const note = open > 0 ? { note: `${open} ${OPEN_CALLS}` } : {};
      // The next one may be hit as soon as it starts.
      const heal = async () => await slot.refilled(pid);
      return { targets: [slot.name], pids: [pid], ...note, heal };
    },
  };
}

/** Calls of remote workers that this API has not answered. */
function openCalls({ proxies }: World, { name }: Slot): number {
  return [...proxies.values()].reduce((sum, proxy) => sum + proxy.openAt(name), 0);
}

function freezeOf(role: Role, number: string): Fault {
  return {
    kind: `${role}-freeze`,
    number,
    what: `SIGSTOP of a process of role ${role}, for longer than a lease, then SIGCONT`,
    holdMs: BEYOND_THE_LEASE,
    inject: async (world, pick) => {
      const slot = world.choose(alive(world.ofRole(role)), pick);
      if (!slot || slot.signal('SIGSTOP') === undefined) return null;
      return { targets: [slot.name], heal: async () => void slot.signal('SIGCONT') };
    },
  };
}

/** Something below a worker that its command line tells apart. */
function below(world: World, pick: number, command: string): { slot: Slot; pid: number } | null {
  const slot = world.choose(alive(world.ofRole('worker')), pick);
  const found = descendants(slot?.pid ?? -1).filter((one) => one.command.includes(command));
  const chosen = found[Math.floor(pick * 997) % Math.max(1, found.length)];
  return slot && chosen ? { slot, pid: chosen.pid } : null;
}

function hit(
  signal: NodeJS.Signals,
  world: World,
  pick: number,
  command: string,
): Injection | null {
  const found = below(world, pick, command);
  if (!found) return null;
  const { slot, pid } = found;
  if (!signalled(pid, signal)) return null;
  const heal = async () => void signalled(pid, 'SIGCONT');
  return { targets: [slot.name], heal: signal === 'SIGSTOP' ? heal : nothingToHeal };
}

const workerStop: Fault = {
  kind: 'worker-stop',
  number: 'L10',
  what: 'SIGTERM of a worker, as a deploy does it',
  holdMs: BRIEF,
  inject: async (world, pick) => {
    const slot = world.choose(alive(world.ofRole('worker')), pick);
    const pid = slot?.signal('SIGTERM');
    if (!slot || pid === undefined) return null;
    return { targets: [slot.name], pids: [pid], heal: async () => await slot.refilled(pid) };
  },
};

const childKill: Fault = {
  kind: 'child-kill',
  number: 'F2',
  what: 'kill -9 of a process that runs jobs',
  holdMs: BRIEF,
  inject: async (world, pick) => hit('SIGKILL', world, pick, 'runner/main'),
};

const childFreeze: Fault = {
  kind: 'child-freeze',
  number: 'F4',
  what: 'SIGSTOP of a process that runs jobs',
  holdMs: BEYOND_THE_LEASE,
  inject: async (world, pick) => hit('SIGSTOP', world, pick, 'runner/main'),
};

const watchdogKill: Fault = {
  kind: 'watchdog-kill',
  number: 'F1',
  what: "kill -9 of a worker's watchdog",
  holdMs: BRIEF,
  inject: async (world, pick) => hit('SIGKILL', world, pick, 'watchdog/main'),
};

const serverWorkerKill: Fault = {
  kind: 'server-worker-kill',
  number: 'F1',
  what: 'kill -9 of the worker process of a `longshore start`; of one that starts, as soon as there is one',
  holdMs: BRIEF,
  impossible: (world) =>
    world.ofRole('start').length > 0 ? null : 'this run has no `longshore start`',
  inject: async (world) => {
    // Also while another fault has to do with the server: its start is when this one matters most.
    const [slot] = world.ofRole('start');
    if (!slot) return null;
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline) {
      const [pid] = workerProcessesOf(slot.pid ?? -1);
      if (pid !== undefined && signalled(pid, 'SIGKILL')) {
        return { targets: [slot.name], pids: [pid], heal: nothingToHeal };
      }
      await pause(LOOK_MS);
    }
    return null;
  },
};

const everythingKill: Fault = {
  kind: 'everything-kill',
  number: 'F27',
  what: 'kill -9 of every process, PostgreSQL included, at once; then a cold start',
  holdMs: [500, 2_000],
  inject: async (world) => {
    const targets = ['postgres', ...world.slots.map(({ name }) => name)];
    if (world.isBusy('postgres')) return null;
    const pids = world.slots.flatMap((slot) => slot.signal('SIGKILL') ?? []);
    const { postmaster } = world.database;
    if (postmaster !== undefined) signalled(postmaster, 'SIGKILL');
    const heal = async () => {
      await world.database.back();
      await Promise.all(world.slots.map(async (slot) => await slot.up()));
    };
    return { targets: ['everything', ...targets], pids, heal };
  },
};

export const PROCESS_FAULTS: readonly Fault[] = [
  killOf('worker', 'F1'),
  killOf('api', 'F11'),
  killOf('scheduler', 'F17'),
  killOf('start', 'F1'),
  freezeOf('worker', 'F3'),
  freezeOf('api', 'F3'),
  freezeOf('scheduler', 'F17'),
  workerStop,
  childKill,
  childFreeze,
  watchdogKill,
  serverWorkerKill,
  everythingKill,
];

function alive(slots: readonly Slot[]): Slot[] {
  return slots.filter(({ pid }) => pid !== undefined);
}

/** False when it is gone already. */
export function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
