import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FAULTS } from './faults/catalogue.ts';
import { exportHistory } from './history/export.ts';
import type { Run } from './history/history.ts';
import { nowMicros } from './history/now.ts';
import { Recorder } from './history/recorder.ts';
import { Injector } from './injector.ts';
import { demandProgress } from './liveness.ts';
import { Deployer } from './load/deployer.ts';
import { Load } from './load/load.ts';
import { Schedules } from './load/schedules.ts';
import { planRun, scaled } from './plan.ts';
import type { Profile } from './profiles.ts';
import { Random } from './random.ts';
import { leftoversOf, processesOf } from './world/leftovers.ts';
import { REDIS_LEASE_MS, REMEMBERED_MS } from './world/redis.ts';
import { World } from './world/world.ts';

export interface RunOptions {
  seed: number;
  minutes: number;
  profile: Profile;
  folder: string;
  mutant: string | null;
  say(text: string): void;
  signal: AbortSignal;
}

const TIMERS = { leaseMs: 3_000, heartbeatMs: 1_000, pollMs: 500, drainMs: 400 };
const LOOK_MS = 250;

/** A whole run, from an empty folder to the files that the checker reads. */
export async function runChaos(options: RunOptions): Promise<void> {
  const { seed, profile, folder } = options;
  await mkdir(folder, { recursive: true });
  const recorder = new Recorder(folder);
  const random = new Random(`${seed}`);
  let world: World | undefined;
  try {
    options.say('starting PostgreSQL');
    const { slotsPerWorker, mix } = profile;
    const { mutant } = options;
    const { redis: withRedis, server: withServer, remotes, lateMs } = profile;
    const workers = { slotsPerWorker, coldJobs: mix.cold !== undefined, withRedis, withServer };
    const remote = { remotes, lateMs, deployments: profile.deploys > 0 };
    world = await World.build({
      folder,
      recorder,
      random,
      ...TIMERS,
      ...workers,
      ...remote,
      mutant,
    });
    await recorder.document('run', describe(options, world));
    await goThroughPhases(options, world, recorder, random);
  } finally {
    await world?.stop();
    for (const { pid } of processesOf(folder)) kill(pid);
    await recorder.close();
  }
}

async function goThroughPhases(
  { profile, minutes, say, signal, folder }: RunOptions,
  world: World,
  recorder: Recorder,
  random: Random,
): Promise<void> {
  const phase = (name: string) => recorder.write('phases', { at: nowMicros(), name });
  const injector = new Injector(world, recorder);
  const { clients, restMs, backlogMax, fanOut, batchJobs, mix } = profile;
  const amounts = { clients, restMs, backlogMax, fanOut, batchJobs };
  const load = new Load({ world, recorder, random, mix, ...amounts });
  const addresses = [...world.clientLinks.values()].map(({ port }) => `http://127.0.0.1:${port}`);
  const schedules = new Schedules(addresses, recorder);
  const deployer = new Deployer({
    addresses,
    recorder,
    random: random.stream('deployer'),
    database: world.database,
    pinner: load.pinner,
    folder,
    deploys: profile.deploys,
    everyMs: profile.deployEveryMs,
    isResting: () => load.isResting,
  });
  try {
    const safetyMs = minutes * 60_000 - profile.livenessMs;
    const deck = scaled(profile.deck, minutes / profile.minutes);
    const plan = planRun({ ...profile, deck }, safetyMs, random.stream('faults'));
    say(
      `safety: ${world.slots.length} servers start, ${plan.length} faults in ${Math.round(safetyMs / 1_000)} s`,
    );
    phase('safety');
    world.startServers();
    if (Object.keys(profile.startUp).length === 0) await world.up();
    const faults = injector.carryOut(plan, signal);
    // Jobs are made from definitions that a worker has registered.
    await Promise.any(world.ofRole('worker').map(async (slot) => await slot.up()));
    load.start();
    deployer.start();
    await Promise.all([schedules.start(profile.schedules), faults]);
    await injector.healed();
    await world.up();
    if (profile.livenessMs > 0) {
      say('liveness: one thing stays broken, the rest must go on');
      phase('liveness');
      await demandProgress({ world, load, injector, holdMs: profile.livenessMs });
    }
    signal.throwIfAborted();
    await Promise.all([load.stop(), deployer.stop()]);
    for (const client of load.clients) await client.releaseAll();
    for (const client of load.clients) await client.signalAll();
    for (const client of load.clients) await client.batches.closeAll();
    await schedules.stop();
    await deployer.pinAll();
    say(`drain: ${load.acknowledged} jobs were acknowledged, ${injector.injected} faults injected`);
    phase('drain');
    if (await drained(world, profile.drainBoundMs)) phase('drained');
    phase('stop');
    await world.stopServers();
    await recorder.document('leftovers', await leftoversOf(folder, world.database));
    say('audit: reading every job and everything that happened to it');
    await world.database.use(async (client) => await exportHistory(client, folder));
  } finally {
    injector.close();
    await Promise.all([load.stop(), deployer.stop()]);
  }
}

async function drained(world: World, boundMs: number): Promise<boolean> {
  const deadline = performance.now() + boundMs;
  while (performance.now() < deadline) {
    if ((await world.database.unfinished({ suspended: true }).catch(() => 1)) === 0) return true;
    await pause(LOOK_MS);
  }
  return false;
}

function describe({ seed, profile }: RunOptions, world: World): Run {
  const skipped = FAULTS.flatMap((fault) => {
    const reason = fault.impossible?.(world);
    return reason ? [[fault.kind, reason]] : [];
  });
  return {
    seed,
    profile: profile.name,
    commit: commitHash(),
    versions: { node: process.versions.node },
    ...TIMERS,
    hearsayMs: profile.redis ? REDIS_LEASE_MS + REMEMBERED_MS : 0,
    slotsPerWorker: profile.slotsPerWorker,
    fanOut: profile.fanOut,
    batchJobs: profile.batchJobs,
    drainBoundMs: profile.drainBoundMs,
    sometimes: profile.sometimes,
    skipped: Object.fromEntries(skipped) as Record<string, string>,
  };
}

function commitHash(): string {
  try {
    const here = join(import.meta.dirname, '..');
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', here, ...args])
        .toString()
        .trim();
    const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+';
    return `${git('rev-parse', '--short', 'HEAD')}${changed}`;
  } catch {
    return 'unknown';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
