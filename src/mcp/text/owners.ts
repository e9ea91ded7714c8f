import type { PublishedDefinition } from '../../client/index.ts';
import { newestVersions } from '../../core/definition/owners.ts';
import { type Facts, facts } from './facts.ts';

/** Who owns these definitions, and what to do when they fail. */
export function ownersOf(
  keys: readonly string[],
  definitions: readonly PublishedDefinition[],
): Facts {
  const own = newestVersions(definitions).filter(({ key }) => keys.includes(key));
  const each = (values: readonly (string | null)[]) =>
    [...new Set(values)].filter((one) => one !== null);
  return facts({
    owner: each(own.map(({ owner }) => owner)),
    runbook: each(own.map(({ runbookUrl }) => runbookUrl)),
  });
}
