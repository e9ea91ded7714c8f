import { ConfigError } from '../config/error.ts';
import type { JobDefinition } from '../core/definition/define.ts';

/** Definitions that are passed as values run inline; the jobs of others would wait for ever. */
export function refuseUnrunnable(jobs: readonly JobDefinition[]): void {
  const others = jobs.filter(({ info }) => info.isolation !== 'inline');
  if (others.length === 0) return;
  throw new ConfigError(
    others.map(
      ({ key, info }) =>
        `${key} runs in a process of its own, which has to load its file: give the path of the ` +
        `file, or of its folder, as jobs${info.command ? '' : "; or say isolation: 'inline'"}`,
    ),
  );
}
