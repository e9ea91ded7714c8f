import type { Left, WaitingJob } from './source.ts';

export interface ImportedJobs {
  queue: string;
  definitionKey: string;
  waiting: number;
  delayed: number;
  retrying: number;
  /** Of these, how many an earlier run has imported. */
  before: number;
}

export interface ImportedSchedule {
  queue: string;
  definitionKey: string;
  name: string;
  cron: string;
  /** An earlier run has created it. */
  before: boolean;
}

/** What a run has done, or would do. */
export interface ImportReport {
  system: string;
  dryRun: boolean;
  jobs: ImportedJobs[];
  schedules: ImportedSchedule[];
  /** Deleted in the other system. */
  removed: { jobs: number; schedules: number };
  left: Left[];
  /** How many of `left` could not be imported because of a name or a refusal. */
  refused: number;
}

const EXAMPLES_MAX = 3;
/** Reasons can hold texts of the server; a run with thousands of different ones names the first. */
const REASONS_MAX = 100;

/** Counts. Its size depends on queues, definitions and reasons, not on jobs. */
export class Counters {
  readonly #jobs = new Map<string, ImportedJobs>();
  readonly #left = new Map<string, Left>();
  readonly schedules: ImportedSchedule[] = [];
  readonly removed = { jobs: 0, schedules: 0 };
  #refused = 0;

  job({ queue, kind }: WaitingJob, definitionKey: string, isBefore: boolean): void {
    const id = `${queue}\n${definitionKey}`;
    const none = { queue, definitionKey, waiting: 0, delayed: 0, retrying: 0, before: 0 };
    const row = this.#jobs.get(id) ?? none;
    this.#jobs.set(id, row);
    row[kind] += 1;
    if (isBefore) row.before += 1;
  }

  left({ queue, reason, count, examples }: Left): void {
    const known = `${queue}\n${reason}`;
    const isMany = this.#left.size >= REASONS_MAX && !this.#left.has(known);
    const id = isMany ? queue : known;
    const row = this.#left.get(id);
    const shown = isMany ? 'refused for other reasons' : reason;
    this.#left.set(id, {
      queue,
      reason: shown,
      count: (row?.count ?? 0) + count,
      examples: [...(row?.examples ?? []), ...examples].slice(0, EXAMPLES_MAX),
    });
  }

  refused(left: Left): void {
    this.#refused += left.count;
    this.left(left);
  }

  report(system: string, dryRun: boolean): ImportReport {
    return {
      system,
      dryRun,
      jobs: [...this.#jobs.values()],
      schedules: this.schedules,
      removed: this.removed,
      left: [...this.#left.values()],
      refused: this.#refused,
    };
  }
}
