import type { History, Micros, VersionEvent } from '../history/history.ts';

/** A disk that takes long delays the moment at which others see a commit. */
const VISIBLE: Micros = 1_000_000;

/** What was deployed and released, and which version each job of the deployed definition had. */
export class Deployed {
  readonly #releases: { current: number | null; from: Micros; until: Micros }[];
  readonly #builds: Map<number, string | null>;
  readonly #versions: Map<string, VersionEvent[]>;
  /** Infinity: nothing was released. */
  readonly firstReleaseAt: Micros;

  constructor({ releases, deployments, versions }: History) {
    const ordered = releases.toSorted((a, b) => a.seq - b.seq);
    this.#releases = ordered.map(({ current, at }, index) => ({
      current,
      from: at,
      until: (ordered[index + 1]?.at ?? Infinity) + VISIBLE,
    }));
    this.firstReleaseAt = ordered[0]?.at ?? Infinity;
    this.#builds = new Map(deployments.map(({ number, build }) => [number, build]));
    this.#versions = Map.groupBy(
      versions.toSorted((a, b) => a.seq - b.seq),
      ({ job }) => job,
    );
  }

  /** The versions that a job had, one after the other. */
  versionsOf(job: string): readonly VersionEvent[] {
    const events = this.#versions.get(job) ?? [];
    return events.filter(({ version }, index) => version !== events[index - 1]?.version);
  }

  /** The version of the queue that a claim took the job from. */
  versionOfClaim(job: string, claim: number): number | null {
    // A job that waits again has the number of its last claim.
    const own = this.#versions.get(job)?.find((one) => one.claim === claim);
    return own?.version ?? null;
  }

  /** The name in the code of a deployment; undefined when there is no such deployment. */
  buildOf(number: number): string | null | undefined {
    return this.#builds.get(number);
  }

  /** The deployments that new jobs may have got in this time. */
  releasedDuring(from: Micros, until: Micros): number[] {
    return this.#releases.flatMap((one) =>
      one.current !== null && one.from <= until && one.until >= from ? [one.current] : [],
    );
  }
}
