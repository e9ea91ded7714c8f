import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../test/support/until.ts';
import { isListener } from './faults/links.ts';
import type { Injector } from './injector.ts';
import type { Load } from './load/load.ts';
import type { World } from './world/world.ts';

export interface LivenessOptions {
  world: World;
  load: Load;
  injector: Injector;
  /** How long the permanent fault lasts. */
  holdMs: number;
}

const RECOVERY_MS = 6_000;
const STALL_MS = 5_000;
const PROBE_EVERY_MS = 400;
const FEW = 20;

/**
 * Random faults always heal soon, and so they hide what never recovers. Here single faults come
 * alone, and one stays: the rest must go on working, within bounds that the checker knows.
 */
export async function demandProgress(options: LivenessOptions): Promise<void> {
  const { injector, load, world } = options;
  await alone(injector, 'postmaster-kill', 0);
  await pause(RECOVERY_MS);
  await alone(injector, 'api-cut', 0);
  await alone(injector, 'success-stall', STALL_MS);
  await alone(injector, 'worker-stop', 0);
  await world.up();
  load.rest(true);
  const isIdle = async () => (await world.database.unfinished({ suspended: false })) < FEW;
  await until('the servers are idle', isIdle).catch(async (error: unknown) => {
    const left = await world.database.whatIsUnfinished();
    throw new Error(`the servers do not become idle, there are: ${left}`, { cause: error });
  });
  await withoutHints(options);
  load.rest(false);
}

async function alone(injector: Injector, kind: string, holdMs: number): Promise<void> {
  const heal = await injector.strike(kind, 0.5);
  await pause(holdMs);
  await heal?.();
}

/** No worker hears a NOTIFY any more, and one of them is gone for good. */
async function withoutHints({ world, load, injector, holdMs }: LivenessOptions): Promise<void> {
  const workers = world.directWorkers;
  const [victim] = workers;
  if (!victim) return;
  victim.leaveVacant(true);
  const pid = victim.signal('SIGKILL');
  const revive = injector.begin(
    { kind: 'worker-kill' },
    {
      targets: [victim.name],
      pids: pid === undefined ? [] : [pid],
      heal: async () => {
        victim.leaveVacant(false);
        await victim.up();
      },
    },
  );
  // The APIs listen for remote workers.
  const apis = world.proxies.size > 0 ? world.ofRole('api') : [];
  const listeners = [...workers.slice(1), ...world.ofRole('start'), ...apis];
  for (const { link } of listeners) link.setWeather({ kind: 'blackhole' }, isListener);
  const listen = injector.begin(
    { kind: 'listen-blackhole' },
    {
      targets: listeners.map(({ name }) => name),
      heal: async () => {
        for (const { link } of listeners) link.clear();
      },
    },
  );
  const [prober, canceller] = load.clients;
  for (let passedMs = 0; passedMs < holdMs; passedMs += PROBE_EVERY_MS) {
    await prober?.enqueue('probe');
    await Promise.all([pause(PROBE_EVERY_MS), canceller?.startAndCancel(300)]);
  }
  await listen();
  await revive();
}
