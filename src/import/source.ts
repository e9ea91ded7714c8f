import type { EnqueueOptions, ScheduleOptions } from '../client/index.ts';

/** Where a job of another system stands. */
export type WaitingKind = 'waiting' | 'delayed' | 'retrying';

/** A job of another system that waits there, as a job of Longshore. */
export interface WaitingJob {
  /** Its id there. */
  id: string;
  /** The same in every run, and different for every job: its idempotency key. */
  identity: string;
  queue: string;
  /** What `--map` maps to a definition, and the key of the definition without a map. */
  name: string;
  kind: WaitingKind;
  params: unknown;
  options: EnqueueOptions;
}

/** A schedule of another system. */
export interface WaitingSchedule {
  /** Its name there and here; unique among the schedules of its definition. */
  name: string;
  queue: string;
  definitionName: string;
  cron: string;
  options: ScheduleOptions;
  /** Deletes it there. */
  remove(): Promise<void>;
}

/** What stays where it is, and why. */
export interface Left {
  queue: string;
  reason: string;
  count: number;
  /** Some of them, so that a person can look at one. */
  examples: readonly string[];
}

/** Some jobs, in the order in which they would run. While a page is held, no worker takes them. */
export interface Page {
  jobs: readonly WaitingJob[];
  left: readonly Left[];
  /** Deletes jobs there, and answers the ids of those that it could not delete. */
  remove(ids: readonly string[]): Promise<readonly string[]>;
}

/** Another system, with the queues that were asked for. */
export interface Source {
  /** `pg-boss` or `bullmq`; part of tags and idempotency keys. */
  readonly system: string;
  /** A page is held until the next one is asked for. Memory does not grow with the number of jobs. */
  pages(): AsyncGenerator<Page, void, undefined>;
  schedules(): AsyncGenerator<WaitingSchedule | Left, void, undefined>;
  close(): Promise<void>;
}

/** The source or the request is not as it must be; the message says what to do. */
export class ImportRefused extends Error {
  override name = 'ImportRefused';
}

/** Names the side that does not answer: the other one is the server. */
export function unreachable(what: string, error: unknown): Error {
  const why = error instanceof Error ? error.message : String(error);
  return new Error(`cannot connect to the ${what} of --from: ${why}`, { cause: error });
}
