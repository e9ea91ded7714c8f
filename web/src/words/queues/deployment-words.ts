import type {
  DeploymentStatus,
  DeploymentView,
  ReleaseView,
} from '../../../../src/core/deployment/deployment-view.ts';
import type { DefinitionChange } from '../../../../src/core/deployment/difference.ts';
import { rollbackPlan } from '../../../../src/core/deployment/rollback.ts';
import type { JobView } from '../../../../src/core/job/job.ts';

export const DEPLOYMENT_TONES: Record<DeploymentStatus, string> = {
  current: 'good',
  canary: 'busy',
  old: 'later',
  retired: 'warn',
};

const REVISION_SHOWN = 12;
const KEYS_NAMED = 5;

/** Keys of definitions in a sentence. */
export function keyWords(keys: readonly string[]): string {
  const more = keys.length - KEYS_NAMED;
  return more <= 1 ? keys.join(', ') : `${keys.slice(0, KEYS_NAMED).join(', ')} and ${more} more`;
}

export function deploymentStatusWords({
  status,
  canaryPercent,
}: Pick<DeploymentView, 'status' | 'canaryPercent'>): string {
  return status === 'canary' ? `canary ${canaryPercent}%` : status;
}

/** The start of a revision; changes that are not committed stay visible. */
export function shortRevision(revision: string): string {
  const start = revision.slice(0, REVISION_SHOWN);
  const isDirty = revision.endsWith('-dirty') && !start.endsWith('-dirty');
  return isDirty ? `${start}-dirty` : start;
}

/** What a deployment means for a definition, compared with what new jobs get now. */
export function changeWords({ change, fields }: DefinitionChange): string {
  switch (change) {
    case 'added':
      return 'new';
    case 'changed':
      return `other rules: ${fields.join(', ')}`;
    case 'unchanged':
      return 'same rules';
    case 'removed':
      return 'not in this deployment; new jobs still get the old one';
  }
}

/** Whether a promotion changes what new jobs get. */
export function canPromote({
  status,
  definitions,
  currentFor,
  canaryFor,
}: DeploymentView): boolean {
  if (status === 'retired') return false;
  return canaryFor.length > 0 || definitions.some((key) => !currentFor.includes(key));
}

/** A canary needs a current deployment beside it. */
export function canBeCanary(
  { number, status, definitions }: Pick<DeploymentView, 'number' | 'status' | 'definitions'>,
  releases: readonly Pick<ReleaseView, 'key' | 'current'>[],
): boolean {
  if (status === 'retired') return false;
  return releases.some(({ key, current }) => definitions.includes(key) && current !== number);
}

/** What happens when a deployment is retired. */
export function retireWords(currentFor: readonly string[]): string {
  const end = 'Workers stop serving it, and its waiting jobs wait.';
  if (currentFor.length === 0) return end;
  return `${end} New jobs of ${keyWords(currentFor)} get it now, and will wait until something else is released.`;
}

/** The latest release of a deployment; undefined if new jobs do not get it. */
export function latestRelease(
  number: number,
  releases: readonly ReleaseView[],
): ReleaseView | undefined {
  return releases
    .filter(({ current, canary }) => current === number || canary === number)
    .toSorted((a, b) => Date.parse(b.changedAt) - Date.parse(a.changedAt))[0];
}

/** A rollback of the definitions whose new jobs get this deployment. */
export interface Rollback {
  definitions: string[];
  /** What it does, as a sentence. */
  does: string;
}

/** Null if there is nothing to go back to. The canary of a deployment ends before the rest moves. */
export function rollbackOf(
  { currentFor, canaryFor }: Pick<DeploymentView, 'currentFor' | 'canaryFor'>,
  releases: readonly ReleaseView[],
): Rollback | null {
  const definitions = canaryFor.length > 0 ? canaryFor : currentFor;
  if (definitions.length === 0) return null;
  const dated = releases.map((one) => ({ ...one, changedAt: new Date(one.changedAt) }));
  const plan = rollbackPlan(dated, definitions);
  if (plan.kind === 'refuse') return null;
  if (plan.kind === 'end-canary') {
    const does = `The canary of deployment ${plan.numbers.join(', ')} ends. Nothing else changes.`;
    return { definitions, does };
  }
  const moves = [...plan.to].map(
    ([number, keys]) => `New jobs of ${keyWords(keys)} get deployment ${number}.`,
  );
  return { definitions, does: moves.join(' ') };
}

/** The numbers that new jobs get after a rollback. */
export function rolledBackWords(deployments: readonly Pick<DeploymentView, 'number'>[]): string {
  const numbers = deployments.map(({ number }) => number).join(', ');
  return `Rolled back: new jobs get deployment ${numbers}.`;
}

/** The version of a job. A scheduled or held job gets that of a deployed definition later. */
export function versionWords({
  definitionVersion,
  status,
}: Pick<JobView, 'definitionVersion' | 'status'>): string {
  if (definitionVersion !== 0) return String(definitionVersion);
  return status === 'created' ? 'decided when it is released' : 'decided when it is due';
}

/** A version in a folder of definitions may be the number of a deployment of other definitions. */
export function isDeploymentOf(
  { number, definitions }: Pick<DeploymentView, 'number' | 'definitions'>,
  { definitionKey, definitionVersion }: Pick<JobView, 'definitionKey' | 'definitionVersion'>,
): boolean {
  // A hook job belongs to the definition that has the hook.
  return (
    number === definitionVersion && definitions.includes(definitionKey.replace(/^\$hook:/, ''))
  );
}
