import type { PublishedDefinition } from '../../../../src/client/job.ts';
import {
  type ReleaseChangeView,
  releaseWords,
} from '../../../../src/core/deployment/release-change.ts';
import type { SeriesView } from '../../../../src/core/series/series.ts';
import { dayAndTime } from '../charts/range.ts';
import { clockTime } from '../moment.ts';

/**
 * A minute in which definitions were published or releases changed, to compare with failures.
 */
export interface Deploy {
  at: string;
  names: string[];
}

type Published = Pick<PublishedDefinition, 'key' | 'version' | 'publishedAt'>;

/** Deploys within the range of a chart, oldest first. */
export function deploysIn(
  { from, stepMs, succeeded }: Pick<SeriesView, 'from' | 'stepMs' | 'succeeded'>,
  definitions: readonly Published[],
  changes: readonly ReleaseChangeView[],
): Deploy[] {
  const fromMs = Date.parse(from);
  const stepOf = (at: string) => Math.floor((Date.parse(at) - fromMs) / stepMs);
  const marks = [
    ...definitions
      .filter((one) => !changes.some((change) => isOf(change, one)))
      .map(({ key, version, publishedAt }) => ({ at: publishedAt, name: `${key}@${version}` })),
    ...changes.map((change) => ({ at: change.at, name: releaseWords(change) })),
  ];
  const recent = marks.filter(({ at }) => stepOf(at) >= 0 && stepOf(at) < succeeded.length);
  const byStep = Map.groupBy(recent, ({ at }) => stepOf(at));
  return [...byStep]
    .sort(([a], [b]) => a - b)
    .map(([step, some]) => ({
      at: new Date(fromMs + step * stepMs).toISOString(),
      names: [...new Set(some.map(({ name }) => name))].sort(),
    }));
}

/** The release of a deployed definition says the same as its publication. */
function isOf({ deployment, definitions }: ReleaseChangeView, { key, version }: Published) {
  return deployment === version && definitions.includes(key);
}

const NAMES_SHOWN = 3;
const DAY_STEP_MS = 15 * 60_000;

/** With the date, if the steps of the chart are long. */
export function deployWords(deploy: Deploy, stepMs: number): string {
  const at =
    stepMs < DAY_STEP_MS ? clockTime(deploy.at).slice(0, 5) : dayAndTime(Date.parse(deploy.at));
  return `${at} ${deployNames(deploy)}`;
}

export function deployNames({ names }: Deploy): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  const more = names.length - NAMES_SHOWN;
  return `${shown}${more > 0 ? ` and ${more} more` : ''}`;
}
