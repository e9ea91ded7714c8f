import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { sleep } from '../../runtime/deadline.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';

/** A start waits this long for a shard before it goes on without it. */
const PATIENCE_MS = 5_000;

/** Applies what published definitions say, such as limits, to one shard. May be repeated. */
export type SetUp = (shard: number, definitions: readonly DefinitionInfo[]) => Promise<void>;

/**
 * Applies published definitions to each shard by itself. A shard that does not answer keeps no worker
 * from starting: it gets them later, before the worker gets its lease there.
 */
export class ShardSetup {
  readonly #shards: number;
  readonly #setUp: SetUp;
  /** By shard, then by name and version: what is not applied yet. */
  readonly #missing = new Map<number, DefinitionInfo[]>();

  /** One at a time in a shard: a repeated start would pile up calls that hang. */
  readonly #applying = new Map<number, Promise<void>>();

  constructor(shards: number, setUp: SetUp) {
    this.#shards = shards;
    this.#setUp = setUp;
  }

  /** Throws when no shard answers, and when the definitions are refused. */
  async publish(definitions: readonly DefinitionInfo[]): Promise<void> {
    const shards = Array.from({ length: this.#shards }, (_, shard) => shard);
    const isNew = (one: DefinitionInfo) =>
      !definitions.some(({ key, version }) => key === one.key && version === one.version);
    for (const shard of shards) {
      const before = this.#missing.get(shard)?.filter(isNew) ?? [];
      this.#missing.set(shard, [...before, ...definitions]);
    }
    const tries = await Promise.allSettled(shards.map(async (one) => await this.ready(one)));
    const errors = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const refusal = errors.find((error) => !(error instanceof DatabaseUnavailable));
    if (refusal !== undefined) throw refusal;
    if (errors.length === this.#shards) throw errors[0];
  }

  async #apply(shard: number): Promise<void> {
    const applying =
      this.#applying.get(shard) ?? this.#begin(shard).finally(() => this.#applying.delete(shard));
    this.#applying.set(shard, applying);
    await applying;
  }

  async #begin(shard: number): Promise<void> {
    const missing = this.#missing.get(shard);
    if (!missing) return;
    await this.#setUp(shard, missing);
    if (this.#missing.get(shard) === missing) this.#missing.delete(shard);
  }

  /** Resolves when everything that was published is applied to this shard. */
  async ready(shard: number): Promise<void> {
    // With one shard there is no other to go on with.
    if (this.#shards === 1 || !this.#missing.has(shard)) return await this.#apply(shard);
    const done = new AbortController();
    const late = sleep(PATIENCE_MS, done.signal).then(() => {
      if (!done.signal.aborted) throw new DatabaseUnavailable(`shard ${shard} does not answer`);
    });
    await Promise.race([this.#apply(shard), late]).finally(() => done.abort());
  }
}
