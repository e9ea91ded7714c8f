import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { isSystemKey } from '../../core/definition/hooks.ts';
import { type Release, releasedVersion } from '../../core/deployment/release.ts';
import type { PublishedDefaults } from '../../core/job/new-job.ts';
import type { Clock } from '../../runtime/clock.ts';
import { listReleases } from '../deployments/releases.ts';
import type { Queryable } from '../connection/db.ts';
import { listDefinitions } from './definitions.ts';
import { readSpreads, type Spreads } from './spreads.ts';

const FRESH_MS = 1_000;
/** From this age on, a call begins a read and does not wait for it, so that few calls find it too old. */
const AGEING_MS = FRESH_MS / 2;

/** The versions of one definition of one tenant. */
interface Versions {
  byVersion: Map<number, PublishedDefaults>;
  /** The highest one that a worker published: new jobs get it without a release. */
  highest: number | null;
  release: Release | null;
}

/** A job as far as it decides about its version. */
export interface VersionRequest {
  tenant: string;
  definitionKey: string;
  definitionVersion: number | null;
  concurrencyKey?: string | null;
  /** What decides for or against a canary, for a job without a concurrency key (`drawn`). */
  draw?: string;
}

const NO_SPREADS: Spreads = { atMs: Infinity, byKey: new Map() };

/** A cache of definitions, releases and spreads; it is valid for a second. */
export class Catalog {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #shards: number;
  #shared = new Map<string, Versions>();
  /** Definitions that belong to one tenant. */
  #owned = new Map<string, Map<string, Versions>>();
  #hasCanary = false;
  #spreads = NO_SPREADS;
  /** When the last read began. */
  #readAtMs = Number.NEGATIVE_INFINITY;
  /** What was read before is old. */
  #forgottenMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(db: Queryable, clock: Clock, shards = 1) {
    this.#db = db;
    this.#clock = clock;
    this.#shards = shards;
  }

  get isFresh(): boolean {
    return this.#readAtMs >= this.#oldestMs;
  }

  /** Reads the definitions again when they are not fresh; undefined when they are. */
  refresh(): Promise<void> | undefined {
    if (!this.isFresh) return this.#readSince(this.#oldestMs);
    const isAgeing = this.#readAtMs < this.#clock.monotonicMs() - AGEING_MS;
    // If it fails, a later call reads again, and one that must wait gets the error.
    if (isAgeing && !this.#reading) this.#readOnce().catch(() => undefined);
    return undefined;
  }

  get #oldestMs(): number {
    return Math.max(this.#clock.monotonicMs() - FRESH_MS, this.#forgottenMs);
  }

  forget(): void {
    this.#forgottenMs = this.#clock.monotonicMs();
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A read that is under way may have begun before that; then another one follows. */
  async #readSince(oldestMs: number): Promise<void> {
    while (this.#readAtMs < oldestMs) await this.#readOnce();
  }

  #readOnce(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /**
   * The requested version; else that of the release; else the highest that a worker published. Null
   * when there is none. A definition of the tenant comes before a shared one of the same key.
   */
  find(request: VersionRequest): PublishedDefaults | null {
    const { tenant, definitionKey: key } = request;
    const own = this.#owned.size > 0 ? this.#owned.get(tenant)?.get(key) : undefined;
    return (own && this.#ofVersions(own, request)) ?? this.#ofShared(key, request);
  }

  #ofShared(key: string, request: VersionRequest): PublishedDefaults | null {
    const shared = this.#shared.get(key);
    return shared ? this.#ofVersions(shared, request) : null;
  }

  #ofVersions(versions: Versions, request: VersionRequest): PublishedDefaults | null {
    const { byVersion, highest, release } = versions;
    const version = request.definitionVersion ?? (release ? this.#pick(release, request) : highest);
    return version === null ? null : (byVersion.get(version) ?? null);
  }

  #pick(release: Release, { concurrencyKey, draw }: VersionRequest): number {
    return releasedVersion(release, () => concurrencyKey ?? draw ?? this.#chance());
  }

  #chance(): string {
    return String(this.#clock.random());
  }

  /**
   * The requests with a draw for each, where there is a canary. Without one each `find` draws again: the
   * schema of one deployment would validate a job that another one runs.
   */
  drawn<T extends VersionRequest>(requests: readonly T[]): readonly T[] {
    if (!this.#hasCanary) return requests;
    return requests.map((request) => ({ ...request, draw: this.#chance() }));
  }

  /** The keys that a tenant may use, with their versions, lowest first, as last read. */
  all(tenant: string): Map<string, number[]> {
    const seen = [...this.#shared, ...(this.#owned.get(tenant) ?? [])];
    const own = seen.filter(([key]) => !isSystemKey(key));
    return new Map(own.map(([key, { byVersion }]) => [key, [...byVersion.keys()]]));
  }

  /** As last read. With one shard there is nothing to spread. */
  get spreads(): Spreads {
    return this.#spreads;
  }

  async #read(): Promise<void> {
    const beganMs = this.#clock.monotonicMs();
    const spreads = this.#shards === 1 ? NO_SPREADS : await readSpreads(this.#db);
    const owned = new Map<string, Map<string, Versions>>([[DEFAULT_TENANT, new Map()]]);
    const versionsOf = (tenant: string, key: string): Versions => {
      const byKey = owned.get(tenant) ?? new Map<string, Versions>();
      owned.set(tenant, byKey);
      const known = byKey.get(key) ?? { byVersion: new Map(), highest: null, release: null };
      byKey.set(key, known);
      return known;
    };
    // The releases come first: a version is stored before it is released, so none of them is unknown.
    const releases = await listReleases(this.#db);
    for (const published of await listDefinitions(this.#db)) {
      const { tenant, key, version, deployment } = published;
      const versions = versionsOf(tenant, key);
      versions.byVersion.set(version, published);
      if (deployment === null) versions.highest = Math.max(versions.highest ?? 0, version);
    }
    for (const release of releases) {
      const versions = versionsOf(release.tenant, release.key);
      versions.release = release;
      for (const [version, published] of versions.byVersion) {
        versions.byVersion.set(version, { ...published, isReleased: true });
      }
    }
    this.#shared = owned.get(DEFAULT_TENANT) ?? new Map();
    owned.delete(DEFAULT_TENANT);
    this.#owned = owned;
    this.#hasCanary = releases.some(({ canary }) => canary !== null);
    this.#spreads = spreads;
    this.#readAtMs = beganMs;
  }
}
