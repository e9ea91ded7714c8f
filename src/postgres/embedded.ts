import { systemClock } from '../runtime/clock.ts';
import { sleep } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import { Backoff } from '../runtime/persist.ts';
import type { Service } from '../runtime/service.ts';
import { demote } from './app-role.ts';
import { openCluster, type Cluster } from './cluster-folder.ts';
import { takeOwnership } from './cluster-owner.ts';
import { database, hostOf, LOOPBACK, urlOf, withConnection, type Address } from './connection.ts';
import { codeOf, EmbeddedPostgresError } from './error.ts';
import { findFreePort, homePort } from './free-port.ts';
import { endLingering } from './lingering.ts';
import { OwnerLock } from './owner-lock.ts';
import { wrongPassword } from './password-file.ts';
import { Postmaster } from './postmaster.ts';
import { commandLineSettings, refuseUnlessDurable } from './settings.ts';
import { refuseIfHopeless, StartFailure } from './start-failure.ts';
import { freeDataFolder } from './takeover.ts';

export { EmbeddedPostgresError } from './error.ts';
export { clusterExists } from './cluster-folder.ts';
export { findRunningCluster } from './running-cluster.ts';

export interface EmbeddedOptions {
  /** LONGSHORE_DATA. The cluster is in `<dataDir>/pg`. */
  dataDir: string;
  log: Log;
  /** For test clusters only: does not wait for the disk. Never set by the product. */
  unsafeForTests?: boolean;
  extraSettings?: Record<string, string>;
  /** For tests and benchmarks only: listens on 127.0.0.1, for clients without Unix sockets. */
  loopback?: boolean;
  /** For tests and benchmarks only: extra grants of the role. */
  extraGrants?: readonly string[];
}

/** How long a start waits for the remains of a killed server. */
const obstaclePatienceMs = 30_000;
/** A server that ran this long was healthy, so its exit does not lengthen the next pause. */
const healthyMs = 5_000;
const knockPauseMs = 200;

/**
 * The embedded PostgreSQL as a supervised child process. Between `start` and `stop` it is restarted
 * whenever it exits, always at the same address, so that connection pools recover. Each start
 * checks that the folder is free, starts the server, takes the owner lock, and checks that it is
 * durable.
 */
export class EmbeddedPostgres implements Service {
  readonly name = 'postgres';
  readonly #options: EmbeddedOptions;
  readonly #log: Log;
  readonly #lock: OwnerLock;
  #stopping = new AbortController();
  #starting: Promise<void> | undefined;
  #supervision: Promise<void> | undefined;
  #postmaster: Postmaster | undefined;
  #address: Address | undefined;
  #lastReason: string | undefined;

  constructor(options: EmbeddedOptions) {
    this.#options = options;
    this.#log = options.log.child({ service: this.name });
    this.#lock = new OwnerLock(this.#log);
  }

  /** Stable from the first start on, also over restarts of the server. */
  get url(): string {
    if (!this.#address) throw new Error('the embedded PostgreSQL has not been started');
    return urlOf(this.#address);
  }

  /** The process id of the server, while it runs. */
  get pid(): number | undefined {
    return this.#postmaster?.pid;
  }

  async start(): Promise<void> {
    if (!this.#starting) {
      this.#stopping = new AbortController();
      this.#starting = this.#start(this.#stopping.signal);
      // A refused start may be tried again.
      this.#starting.catch(() => {
        this.#starting = undefined;
      });
    }
    await this.#starting;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new EmbeddedPostgresError('PostgreSQL was stopped while it started.'));
    await this.#starting?.catch(() => {});
    await this.#lock.release();
    await this.#postmaster?.stop();
    await this.#supervision;
    this.#postmaster = undefined;
    this.#starting = undefined;
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { dataDir, unsafeForTests = false } = this.#options;
    const cluster = await openCluster({ dataDir, log: this.#log, signal, unsafeForTests });
    const { password } = cluster;
    const host = this.#options.loopback ? LOOPBACK : hostOf(cluster.folder);
    const preferred = this.#address?.port ?? homePort(cluster.folder);
    let failedFirstMs: number | undefined;
    const backoff = new Backoff();
    for (;;) {
      try {
        // The port is chosen last: until then the server of a killed predecessor may use it.
        const unrelatedPid = await freeDataFolder(cluster, signal, this.#log);
        await takeOwnership(cluster.folder, cluster.user);
        const port = host === LOOPBACK ? await findFreePort(preferred) : preferred;
        const address = { host, port, password };
        await this.#launch(cluster, address, unrelatedPid, signal);
        this.#supervision = this.#supervise(cluster, address, signal);
        return;
      } catch (error) {
        if (!(error instanceof StartFailure)) throw error;
        const nowMs = systemClock.monotonicMs();
        failedFirstMs ??= nowMs;
        await refuseIfHopeless(error, cluster, nowMs - failedFirstMs > obstaclePatienceMs);
        await this.#afterFailure(error, cluster);
        await sleep(backoff.next(), signal);
      }
    }
  }

  /** One server from spawn to ready and owned. On failure nothing is left running. */
  async #launch(
    cluster: Cluster,
    address: Address,
    unrelatedPid: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { unsafeForTests = false, extraSettings } = this.#options;
    const settings = {
      ...commandLineSettings(cluster.folder, address, unsafeForTests),
      ...extraSettings,
    };
    const postmaster = await Postmaster.launch(cluster, settings, this.#log, unrelatedPid);
    try {
      await postmaster.ready(signal);
      await this.#own(postmaster, cluster, address, signal);
      signal.throwIfAborted();
    } catch (error) {
      await this.#lock.release();
      await postmaster.stop();
      throw error;
    }
    this.#postmaster = postmaster;
    this.#address = address;
    this.#lastReason = undefined;
    const { host, port } = address;
    this.#log.info({ pid: postmaster.pid, host, port }, 'PostgreSQL is ready');
  }

  /**
   * Takes the owner lock of a ready server and checks its settings. After a restart all pools
   * reconnect at once and may take every connection for a while, so this waits as long as the
   * server lives; giving up would only make them reconnect once more.
   */
  async #own(
    postmaster: Postmaster,
    cluster: Cluster,
    address: Address,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      try {
        await this.#lock.hold(address);
        await createDatabase(address);
        const demoted = await withConnection(address, database, async (client) =>
          demote(client, this.#options.extraGrants),
        );
        if (demoted) await this.#lock.hold(address);
        if (this.#options.unsafeForTests) return;
        await withConnection(address, database, async (client) =>
          refuseUnlessDurable(client, cluster.folder),
        );
        return;
      } catch (error) {
        if (codeOf(error) === '28P01') throw wrongPassword(cluster.folder);
        if (error instanceof EmbeddedPostgresError) throw error;
        if (postmaster.pid === undefined) throw new StartFailure(String(error), 'interrupted');
        this.#log.debug({ err: error }, 'PostgreSQL is up but does not accept our connection yet');
        await sleep(knockPauseMs, signal);
        signal.throwIfAborted();
      }
    }
  }

  async #supervise(cluster: Cluster, address: Address, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff();
    while (!signal.aborted) {
      const readyMs = systemClock.monotonicMs();
      const exit = await this.#postmaster?.exited;
      if (signal.aborted) return;
      this.#log.warn({ ...exit }, 'PostgreSQL exited unexpectedly; restarting');
      await this.#lock.release();
      if (systemClock.monotonicMs() - readyMs > healthyMs) backoff.reset();
      while (!signal.aborted && this.pid === undefined) {
        await sleep(backoff.next(), signal);
        try {
          const unrelatedPid = await freeDataFolder(cluster, signal, this.#log);
          await this.#launch(cluster, address, unrelatedPid, signal);
        } catch (error) {
          if (!signal.aborted) await this.#afterFailure(error, cluster);
        }
      }
    }
  }

  async #afterFailure(error: unknown, cluster: Cluster): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    // The same reason is a warning only once.
    const level = reason === this.#lastReason ? 'debug' : 'warn';
    this.#lastReason = reason;
    this.#log[level]({ reason }, 'cannot start PostgreSQL yet; trying again');
    if (error instanceof StartFailure && error.obstacle === 'lingering') {
      await endLingering(cluster.folder, this.#log);
    }
  }
}

async function createDatabase(address: Address): Promise<void> {
  await withConnection(address, 'postgres', async (client) => {
    const { rows } = await client.query('select from pg_database where datname = $1', [database]);
    if (rows.length === 0) await client.query(`create database ${database}`);
  });
}
