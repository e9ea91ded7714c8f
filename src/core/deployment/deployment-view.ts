import type { DefinitionChange } from './difference.ts';
import type { Release } from './release.ts';
import type { SchemaCheck } from './schema-check.ts';
import type { DefinitionJobs } from './version-jobs.ts';

export const DEPLOYMENT_STATUSES = ['current', 'canary', 'old', 'retired'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** A deployment as the API shows it. */
export interface DeploymentView {
  number: number;
  artifactId: string;
  bytes: number;
  /** `current`: new jobs of at least one definition get it. */
  status: DeploymentStatus;
  definitions: string[];
  /** The definitions whose new jobs get it. */
  currentFor: string[];
  canaryFor: string[];
  canaryPercent: number | null;
  note: string | null;
  /** Such as the commit of the code. */
  revision: string | null;
  createdBy: string;
  createdAt: string;
  retiredAt: string | null;
}

/** One deployment, and what became of its jobs. */
export interface DeploymentDetail extends DeploymentView {
  jobs: DefinitionJobs[];
}

/** What a deployment changes, and what its schemas mean for jobs that wait. */
export interface DifferenceView {
  changes: DefinitionChange[];
  /** Of definitions with a new schema. */
  schemaChecks: SchemaCheck[];
}

/** A new deployment, and what it changes. */
export interface DeployedView extends DeploymentView, DifferenceView {}

export interface ReleaseView extends Release {
  changedBy: string;
  changedAt: string;
  reason: string | null;
}

/** What a deployment is to the new jobs of its tenant. */
export function standing(
  { number, retired }: { number: number; retired: boolean },
  releases: readonly Release[],
): Pick<DeploymentView, 'status' | 'currentFor' | 'canaryFor' | 'canaryPercent'> {
  const currentFor = releases.filter(({ current }) => current === number).map(({ key }) => key);
  const canaries = releases.filter(({ canary }) => canary === number);
  const used = currentFor.length > 0 ? 'current' : canaries.length > 0 ? 'canary' : 'old';
  return {
    status: retired ? 'retired' : used,
    currentFor,
    canaryFor: canaries.map(({ key }) => key),
    canaryPercent: canaries[0]?.canaryPercent ?? null,
  };
}
