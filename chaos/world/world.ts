import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { FOLDER_VARIABLE } from '../history/effects.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Random } from '../random.ts';
import { BIN } from '../../test/support/processes.ts';
import { CallProxy } from './call-proxy.ts';
import { Database } from './database.ts';
import { Link } from './link.ts';
import { Redis, REDIS_LEASE_MS } from './redis.ts';
import { REMOTE } from '../check/remote-slots.ts';
import { type Role, Slot } from './slot.ts';
import { SmallDisk } from './small-disk.ts';
import { WrongClocks } from './wrong-clock.ts';

export interface WorldOptions {
  folder: string;
  recorder: Recorder;
  random: Random;
  /** Short ones, so that a minute sees many leases. */
  leaseMs: number;
  heartbeatMs: number;
  pollMs: number;
  drainMs: number;
  slotsPerWorker: number;
  /** Whether there are jobs that get a fresh process each, which takes its toll on the machine. */
  coldJobs: boolean;
  /** Whether there is a `longshore start` besides, which has its worker in a process below it. */
  withServer: boolean;
  /** Whether workers also beat in Redis. */
  withRedis: boolean;
  /** How many of the workers get their jobs over HTTP. */
  remotes: number;
  /** How late a call of a remote worker may arrive. */
  lateMs: number;
  /** Whether the workers, but not that of `longshore start`, serve deployed code. */
  deployments: boolean;
  /** The name of what is broken on purpose, if anything is. */
  mutant: string | null;
}

const ROLES: Record<Role, number> = { api: 2, scheduler: 2, worker: 3, start: 1 };
const DISK_MEGABYTES = 1_536;
const JOBS = fileURLToPath(new URL('../jobs/', import.meta.url));
const SOURCES = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const PRELOAD = fileURLToPath(new URL('../mutants/preload.ts', import.meta.url));

/**
 * A small cluster on one machine: a PostgreSQL, and servers of all roles as real processes, each
 * with a network of its own that can be spoilt.
 */
export class World {
  readonly folder: string;
  readonly recorder: Recorder;
  readonly database: Database;
  /** What this machine cannot do is a sentence that says why. */
  readonly disk: SmallDisk | string;
  readonly clocks: WrongClocks | string;
  readonly redis: Redis | null;
  readonly slots: Slot[] = [];
  /** The way of the clients to each API. */
  readonly clientLinks = new Map<string, Link>();
  /** The way of each remote worker to the APIs. */
  readonly proxies = new Map<string, CallProxy>();
  readonly lateMs: number;
  readonly #busy = new Set<string>();

  private constructor(
    { folder, recorder, lateMs }: WorldOptions,
    disk: SmallDisk | string,
    clocks: WrongClocks | string,
    redis: Redis | null,
  ) {
    this.folder = folder;
    this.recorder = recorder;
    this.lateMs = lateMs;
    this.disk = disk;
    this.clocks = clocks;
    this.redis = redis;
    this.database = new Database(join(folder, 'disk', 'data'));
  }

  /** Everything but the servers: those begin with `startServers`. */
  static async build(options: WorldOptions): Promise<World> {
    const { folder } = options;
    const disk = await SmallDisk.mount(join(folder, 'disk'), DISK_MEGABYTES);
    const clocks = await WrongClocks.prepare(folder);
    const redis = options.withRedis ? await Redis.open() : null;
    const world = new World(options, disk, clocks, redis);
    try {
      await world.database.start();
      for (const [role, count] of Object.entries(ROLES) as [Role, number][]) {
        if (role === 'start' && !options.withServer) continue;
        const direct = role === 'worker' ? count - options.remotes : count;
        for (let n = 1; n <= direct; n += 1) await world.#add(role, `${role}-${n}`, options);
      }
      for (let n = 1; n <= options.remotes; n += 1) {
        await world.#add('worker', `${REMOTE}-${n}`, options);
      }
    } catch (error) {
      await world.stop();
      throw error;
    }
    return world;
  }

  /** Waits for nothing: faults may strike from here on. */
  startServers(): void {
    for (const slot of this.slots) slot.start();
  }

  /** Waits until every server is up. */
  async up(): Promise<void> {
    await Promise.all(this.slots.map(async (slot) => await slot.up()));
  }

  ofRole(role: Role): Slot[] {
    return this.slots.filter((slot) => slot.role === role);
  }

  /** Those with a connection to the database. */
  get direct(): Slot[] {
    return this.slots.filter(({ name }) => !this.proxies.has(name));
  }

  get directWorkers(): Slot[] {
    return this.direct.filter(({ role }) => role === 'worker');
  }

  /** One of those that no other fault is busy with; null when there is none. `pick` is in [0, 1). */
  choose<T extends { name: string }>(candidates: readonly T[], pick: number): T | null {
    const free = candidates.filter(({ name }) => !this.#busy.has(name));
    return free[Math.floor(pick * free.length)] ?? null;
  }

  isBusy = (target: string): boolean => this.#busy.has(target);

  occupy(targets: readonly string[]): void {
    for (const target of targets) this.#busy.add(target);
  }

  release(targets: readonly string[]): void {
    for (const target of targets) this.#busy.delete(target);
  }

  /** The servers first, as an operator would do it. */
  async stopServers(): Promise<void> {
    await Promise.all(this.slots.map(async (slot) => await slot.stop()));
  }

  async stop(): Promise<void> {
    await this.stopServers();
    for (const link of [...this.clientLinks.values(), ...this.slots.map((slot) => slot.link)]) {
      await link.close();
    }
    for (const proxy of this.proxies.values()) proxy.close();
    await this.redis?.close();
    await this.database.stop();
    if (typeof this.disk !== 'string') await this.disk.unmount();
  }

  async #add(role: Role, name: string, options: WorldOptions): Promise<void> {
    const chance = options.random.stream(`network of ${name}`);
    const isRemote = name.startsWith(REMOTE);
    const link = new Link(name, isRemote ? 'http' : 'postgres', () => chance.next());
    await link.open();
    link.targetPort = isRemote ? await this.#proxyOf(name) : this.database.port;
    const hasApi = role === 'api' || role === 'start';
    const clientLink = hasApi ? new Link(name, 'http', () => chance.next()) : null;
    if (clientLink) {
      await clientLink.open();
      this.clientLinks.set(name, clientLink);
    }
    const clock = typeof this.clocks === 'string' ? {} : await this.clocks.environmentOf(name);
    const env = {
      PATH: process.env['PATH'] ?? '',
      TMPDIR: this.folder,
      [FOLDER_VARIABLE]: this.folder,
      LONGSHORE_RUNNER_ENV: FOLDER_VARIABLE,
      ...(isRemote
        ? { LONGSHORE_URL: `http://127.0.0.1:${link.port}` }
        : { DATABASE_URL: this.database.urlThrough(link.port) }),
      LONGSHORE_JOBS: join(JOBS, options.coldJobs ? '.' : 'warm'),
      // Jobs write the history themselves, into a folder of ours.
      LONGSHORE_RUNNER_UIDS: 'none',
      LONGSHORE_PORT: '0',
      LONGSHORE_CONCURRENCY: `${options.slotsPerWorker}`,
      LONGSHORE_LEASE_MS: `${options.leaseMs}`,
      LONGSHORE_HEARTBEAT_MS: `${options.heartbeatMs}`,
      LONGSHORE_POLL_MS: `${options.pollMs}`,
      LONGSHORE_DRAIN_MS: `${options.drainMs}`,
      LONGSHORE_LOG_LEVEL: 'warn',
      LONGSHORE_ARTIFACTS: join(this.folder, 'artifacts'),
      LONGSHORE_DEPLOYMENTS: options.deployments && role === 'worker' ? 'also' : 'off',
      ...clock,
      ...(this.redis && {
        LONGSHORE_REDIS_URL: this.redis.url,
        LONGSHORE_REDIS_LEASE_MS: `${REDIS_LEASE_MS}`,
      }),
      ...(options.mutant === null ? {} : { CHAOS_MUTANT: options.mutant }),
    };
    // A mutant replaces text of sources, so it runs them.
    const program = options.mutant === null ? [BIN] : ['--import', PRELOAD, SOURCES];
    const { recorder } = options;
    const listens = (port: number) => {
      if (clientLink) clientLink.targetPort = port;
      for (const proxy of this.proxies.values()) proxy.targets.set(name, port);
    };
    const onAddress = clientLink ? listens : undefined;
    const heard = onAddress && { onAddress };
    this.slots.push(new Slot({ name, role, link, env, program, recorder, ...heard }));
  }

  async #proxyOf(name: string): Promise<number> {
    const proxy = new CallProxy();
    await proxy.open();
    this.proxies.set(name, proxy);
    return proxy.port;
  }
}
