import type { Longshore } from '../client/index.ts';
import type { DefinitionMap } from './definition-map.ts';
import type { Counters } from './report.ts';
import type { Source } from './source.ts';

export interface ImportOptions {
  source: Source;
  client: Longshore;
  map: DefinitionMap;
  /** Counts only. */
  dryRun: boolean;
  /** Deletes in the source what is stored here. */
  remove: boolean;
  /** Called after each page with the number of jobs so far. */
  onProgress(jobs: number): void;
}

/** One run, with what it has counted so far. */
export interface Run extends ImportOptions {
  counters: Counters;
  /** All imported jobs have it, so that they can be found. */
  tag: string;
  /** The time in the id of the newest job that an earlier run has imported. */
  newest: string;
}

export function noKey(name: string): string {
  return `${JSON.stringify(name)} is no key of a definition: use --map ${JSON.stringify(`${name}=NEW`)}`;
}
