import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { Throughput } from '../../../../src/core/views/stats.ts';
import { clockTime } from '../moment.ts';

/** A minute in which definitions were published, to compare with failures. */
export interface Deploy {
  at: string;
  names: string[];
}

/** Deploys within the range of a chart, oldest first. */
export function deploysIn(
  { from, stepMs, succeeded }: Pick<Throughput, 'from' | 'stepMs' | 'succeeded'>,
  definitions: readonly Pick<PublishedDefinition, 'key' | 'version' | 'publishedAt'>[],
): Deploy[] {
  const fromMs = Date.parse(from);
  const stepOf = (at: string) => Math.floor((Date.parse(at) - fromMs) / stepMs);
  const recent = definitions.filter(({ publishedAt }) => {
    const step = stepOf(publishedAt);
    return step >= 0 && step < succeeded.length;
  });
  const byStep = Map.groupBy(recent, ({ publishedAt }) => stepOf(publishedAt));
  return [...byStep]
    .sort(([a], [b]) => a - b)
    .map(([step, some]) => ({
      at: new Date(fromMs + step * stepMs).toISOString(),
      names: some.map(({ key, version }) => `${key}@${version}`).sort(),
    }));
}

const NAMES_SHOWN = 3;

export function deployWords({ at, names }: Deploy): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  const more = names.length - NAMES_SHOWN;
  return `${clockTime(at).slice(0, 5)} ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}
