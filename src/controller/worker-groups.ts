import { definitionName } from '../core/definition/definition.ts';
import { Poller } from '../runtime/poller.ts';
import { Listener } from '../store/connection/listen.ts';
import { isReleaseHint } from '../store/connection/wake.ts';
import type { RemoteWorker } from './remote-worker.ts';
import { type GroupOptions, WorkerGroup } from './worker-group.ts';

export interface GroupsOptions extends Omit<GroupOptions, 'tenant' | 'definitions'> {
  /** For LISTEN; null: jobs are found by polling. */
  databaseUrl: string | null;
  /** The next heartbeat of this worker has news. */
  onNews(instance: string): void;
  /** Releases or deployments changed. */
  onReleases(): void;
}

/** A group whose workers have made no call for this long is closed. */
const UNUSED_MS = 120_000;
const SWEEP_MS = 30_000;

/**
 * The groups of remote workers. Without workers there are no groups, no connection that listens and
 * no polls, so a server that serves none pays nothing.
 */
export class WorkerGroups {
  readonly #options: GroupsOptions;
  readonly #groups = new Map<string, { group: WorkerGroup; usedMs: number }>();
  readonly #listener: Listener | null;
  readonly #sweeper: Poller;

  constructor(options: GroupsOptions) {
    this.#options = options;
    const { databaseUrl: url, log, onNews, onReleases } = options;
    this.#listener = url === null ? null : new Listener({ url, log });
    this.#listener?.add({
      onWork: (hints) => {
        for (const group of this.#all()) for (const hint of hints) group.hint(hint);
        if (hints.some(isReleaseHint)) onReleases();
      },
      onBeat: onNews,
      onConnected: () => {
        for (const group of this.#all()) group.pollSoon();
        onReleases();
      },
    });
    const tick = async () => await this.#sweep();
    this.#sweeper = new Poller({ name: 'sweeper of remote workers', log, tick });
  }

  /** The group of a worker that makes a call. */
  async of({ tenant, definitions }: RemoteWorker): Promise<WorkerGroup> {
    const name = JSON.stringify([tenant, definitions.map(definitionName).toSorted()]);
    const usedMs = this.#options.clock.monotonicMs();
    const known = this.#groups.get(name);
    const group = known?.group ?? new WorkerGroup({ ...this.#options, tenant, definitions });
    this.#groups.set(name, { group, usedMs });
    await group.start();
    await this.#listener?.start();
    await this.#sweeper.start();
    return group;
  }

  /** Ends the waits of a worker. */
  release(instance: string): void {
    for (const group of this.#all()) group.release(instance);
  }

  releaseAll(): void {
    for (const group of this.#all()) group.releaseAll();
  }

  async stop(): Promise<void> {
    await this.#sweeper.stop();
    await this.#listener?.stop();
    await Promise.all(this.#all().map(async (group) => await group.stop()));
    this.#groups.clear();
  }

  #all(): WorkerGroup[] {
    return [...this.#groups.values()].map(({ group }) => group);
  }

  async #sweep(): Promise<number> {
    const unusedMs = this.#options.clock.monotonicMs() - UNUSED_MS;
    for (const [name, { group, usedMs }] of this.#groups) {
      if (usedMs > unusedMs) continue;
      this.#groups.delete(name);
      await group.stop();
    }
    if (this.#groups.size === 0) await this.#listener?.stop();
    return SWEEP_MS;
  }
}
