import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { hookOwner } from '../../core/definition/hooks.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Poller } from '../../runtime/poller.ts';
import type { ServedDeployment } from '../../store/deployments/served.ts';
import type { RunnerSource } from '../runners/runner.ts';
import type { Runners } from '../runners/runners.ts';

/** Where a worker gets deployments from: the database and the artifact storage, or a server. */
export interface DeploymentSource {
  /** The deployments that should be served now. */
  list(): Promise<ServedDeployment[]>;
  /** Its unpacked code, which stays on disk until it is released. */
  take(deployment: ServedDeployment): Promise<{ folder: string; release(): Promise<void> }>;
  /** Tells others why a deployment cannot be loaded; null: it is loaded. */
  report?(number: number, problem: string | null): Promise<void>;
  close(): Promise<void>;
}

export interface DeployedCodeOptions {
  source: DeploymentSource;
  /** Runners for the code in a folder. */
  runners(folder: string, deployment: ServedDeployment): Runners;
  /** The definitions of the jobs folder. */
  folderDefinitions(): readonly DefinitionInfo[];
  /** The definitions of the running jobs. */
  running(): readonly DefinitionInfo[];
  /** The definitions have changed. */
  onChange(): Promise<void>;
  /** Notifications of releases arrive while the worker is connected. */
  isNotified: boolean;
  clock: Clock;
  log: Log;
}

interface Loaded {
  number: number;
  runners: Runners;
  definitions: readonly DefinitionInfo[];
  release(): Promise<void>;
  wantedMs: number;
}

/** A notification tells of releases at once; this is the fallback, and finds retried old jobs. */
const CHECK_MS = 10_000;
/** While there are no deployments at all. */
const IDLE_CHECK_MS = 60_000;
const RETRY_MS = 2_000;
/** Each load starts processes. */
const LOADS_MAX = 2;
/** A deployment without jobs and without a release is unloaded after this time. */
const UNLOAD_MS = 60_000;
/** And of many such deployments, only these stay so long. */
const IDLE_MAX = 3;

/**
 * The deployed code of a worker. It learns of releases while it runs, and loads and unloads
 * deployments without a restart. A deployment that cannot be loaded is tried again; its jobs wait
 * meanwhile and use no attempt, because its definitions are not served.
 */
export class DeployedCode {
  readonly #options: DeployedCodeOptions;
  readonly #poller: Poller;
  readonly #loaded = new Map<number, Loaded>();
  readonly #loading = new Map<number, Promise<void>>();
  /** Whether `onChange` has succeeded since the last change. */
  #told = true;
  /** The last problem of each deployment that could not be loaded. */
  readonly #problems = new Map<number, { text: string; retryMs: number }>();

  constructor(options: DeployedCodeOptions) {
    this.#options = options;
    this.#poller = new Poller({
      name: 'deployments',
      log: options.log,
      tick: async () => await this.#check(),
    });
  }

  get definitions(): DefinitionInfo[] {
    return [...this.#loaded.values()].flatMap(({ definitions }) => definitions);
  }

  /** Undefined for a definition that no deployment brought. */
  source(definition: DefinitionInfo): RunnerSource | undefined {
    return this.#ownerOf(definition)?.runners.source(definition);
  }

  /** Its version is the number of its deployment. */
  #ownerOf({ key, version }: DefinitionInfo): Loaded | undefined {
    const loaded = this.#loaded.get(version);
    const name = hookOwner(key) ?? key;
    return loaded?.definitions.some((one) => one.key === name) ? loaded : undefined;
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  checkSoon(): void {
    this.#poller.wake();
  }

  /** Loads no more. What is loaded runs its jobs until `close`. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await Promise.all(this.#loading.values());
  }

  async close(): Promise<void> {
    await Promise.all([...this.#loaded.values()].map(async (one) => await this.#unload(one)));
    await this.#options.source.close();
  }

  async #check(): Promise<number> {
    const { source, clock, log } = this.#options;
    if (!this.#told) await this.#tell();
    const wanted = await source.list();
    const nowMs = clock.monotonicMs();
    for (const { number } of wanted) {
      const loaded = this.#loaded.get(number);
      if (loaded) loaded.wantedMs = nowMs;
    }
    this.#loadSome(wanted, nowMs);
    for (const loaded of this.#unneeded(nowMs)) {
      log.info({ deployment: loaded.number }, 'unloaded a deployment that has no jobs');
      this.#loaded.delete(loaded.number);
      try {
        await this.#tell();
      } finally {
        await this.#unload(loaded);
      }
    }
    if (this.#problems.size > 0) return RETRY_MS;
    const isUnused = wanted.length === 0 && this.#loaded.size === 0 && this.#options.isNotified;
    return isUnused ? IDLE_CHECK_MS : CHECK_MS;
  }

  #unneeded(nowMs: number): Loaded[] {
    const idle = [...this.#loaded.values()].filter(
      (loaded) => loaded.wantedMs < nowMs && !this.#isUsed(loaded),
    );
    return idle
      .toSorted((a, b) => b.wantedMs - a.wantedMs)
      .filter(({ wantedMs }, index) => index >= IDLE_MAX || nowMs - wantedMs >= UNLOAD_MS);
  }

  /** The newest first. The end of each load leads to another check. */
  #loadSome(wanted: readonly ServedDeployment[], nowMs: number): void {
    const numbers = new Set(wanted.map(({ number }) => number));
    for (const number of this.#problems.keys()) {
      if (!numbers.has(number)) this.#problems.delete(number);
    }
    for (const deployment of wanted.toSorted((a, b) => b.number - a.number)) {
      const { number } = deployment;
      if (this.#loading.size >= LOADS_MAX) return;
      if (this.#loaded.has(number) || this.#loading.has(number)) continue;
      if ((this.#problems.get(number)?.retryMs ?? nowMs) <= nowMs) this.#load(deployment);
    }
  }

  /** After a failure, the next check repeats it. */
  async #tell(): Promise<void> {
    this.#told = true;
    await this.#options.onChange().catch((error: unknown) => {
      this.#told = false;
      throw error;
    });
  }

  #isUsed(loaded: Loaded): boolean {
    return this.#options.running().some((definition) => this.#ownerOf(definition) === loaded);
  }

  #load(deployment: ServedDeployment): void {
    const { number } = deployment;
    const { log, clock } = this.#options;
    const loading = this.#begin(deployment)
      .then(async () => {
        this.#problems.delete(number);
        await this.#report(number, null);
      })
      .catch(async (error: unknown) => {
        const problem = error instanceof Error ? error.message : String(error);
        const known = this.#problems.get(number)?.text === problem;
        const retryMs = clock.monotonicMs() + RETRY_MS;
        this.#problems.set(number, { text: problem, retryMs });
        // Each problem is logged once.
        if (known) return;
        log.warn({ deployment: number, problem }, 'a deployment cannot be loaded; trying again');
        await this.#report(number, problem);
      })
      .then(() => {
        this.#loading.delete(number);
        this.#poller.wake();
      });
    this.#loading.set(number, loading);
  }

  /** Not needed for the work, so a failure does not matter. */
  async #report(number: number, problem: string | null): Promise<void> {
    await this.#options.source.report?.(number, problem).catch(() => undefined);
  }

  async #begin(deployment: ServedDeployment): Promise<void> {
    const { source, clock, log } = this.#options;
    const { number } = deployment;
    const { folder, release } = await source.take(deployment);
    const runners = this.#options.runners(folder, deployment);
    try {
      await runners.start();
    } catch (error) {
      await release();
      throw error;
    }
    const { definitions, problems } = runners.report;
    for (const problem of problems) {
      log.warn({ deployment: number, problem }, 'skipped a definition that cannot be loaded');
    }
    const wantedMs = clock.monotonicMs();
    this.#loaded.set(number, { number, runners, definitions, release, wantedMs });
    log.info({ deployment: number, definitions: definitions.map(({ key }) => key) }, 'deployed');
    this.#warnOfFolder(number, definitions);
    this.#told = false;
  }

  /** A developer who edits the folder would wait for a change that does not come. */
  #warnOfFolder(deployment: number, definitions: readonly DefinitionInfo[]): void {
    const inFolder = new Set(this.#options.folderDefinitions().map(({ key }) => key));
    const both = definitions.map(({ key }) => key).filter((key) => inFolder.has(key));
    if (both.length === 0) return;
    const advice = `to run the folder again: longshore deployments retire ${deployment}`;
    this.#options.log.warn(
      { deployment, definitions: both },
      `the jobs folder has definitions of deployment ${deployment}, and new jobs run what is released (${advice})`,
    );
  }

  async #unload({ number, runners, release }: Loaded): Promise<void> {
    this.#loaded.delete(number);
    await runners.stop();
    await release();
  }
}
