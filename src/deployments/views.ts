import type { DefinitionInfo } from '../core/definition/definition.ts';
import {
  type DeploymentDetail,
  type DeploymentView,
  type DifferenceView,
  type ReleaseView,
  standing,
} from '../core/deployment/deployment-view.ts';
import { difference } from '../core/deployment/difference.ts';
import { withNewSchema } from '../core/deployment/schema-check.ts';
import {
  type DefinitionJobs,
  definitionJobs,
  releasedBefore,
  versionJobs,
} from '../core/deployment/version-jobs.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Db, Queryable } from '../store/connection/db.ts';
import {
  deployedDefinitions,
  type Deployment,
  findDeployment,
  listDeployments,
} from '../store/deployments/deployments.ts';
import { listReleases, type StoredRelease } from '../store/deployments/releases.ts';
import { countsOf, countVersions, versionsBelow } from '../store/deployments/version-counts.ts';
import { checkSchemas } from './schema-checks.ts';

/** What the API shows of deployments and releases. */

export async function showDeployment(
  db: Queryable,
  tenant: string,
  number: number,
): Promise<DeploymentView> {
  const found = (await findDeployment(db, tenant, number)) ?? noSuchDeployment(number);
  return viewOf(found, await ownReleases(db, tenant));
}

/** With its jobs, and those of the version before, by definition. */
export async function showDeploymentDetail(
  db: Db,
  tenant: string,
  number: number,
): Promise<DeploymentDetail> {
  const view = await showDeployment(db, tenant, number);
  return { ...view, jobs: await jobsOf(db, tenant, view) };
}

async function jobsOf(
  db: Db,
  tenant: string,
  { number, definitions }: DeploymentView,
): Promise<DefinitionJobs[]> {
  const releases = await ownReleases(db, tenant);
  const below = await versionsBelow(db, tenant, definitions, number);
  const versions = definitions.map((key) => {
    const release = releases.find((one) => one.key === key);
    return { key, before: releasedBefore(number, release) ?? below.get(key) ?? null };
  });
  const asked = versions.flatMap(({ key, before }) => [
    { key, version: number },
    ...(before === null ? [] : [{ key, version: before }]),
  ]);
  const counts = await countVersions(db, tenant, asked);
  return versions.map(({ key, before }) => {
    const jobs = (version: number) => versionJobs(version, countsOf(counts, key, version));
    return definitionJobs(key, jobs(number), before === null ? null : jobs(before));
  });
}

/** The newest first; `before` is the last number of the page before. */
export async function showDeployments(
  db: Queryable,
  tenant: string,
  page: { before: number | null; limit: number },
): Promise<DeploymentView[]> {
  const releases = await ownReleases(db, tenant);
  return (await listDeployments(db, tenant, page)).map((one) => viewOf(one, releases));
}

export async function showReleases(db: Queryable, tenant: string): Promise<ReleaseView[]> {
  return (await ownReleases(db, tenant)).map((one) => ({
    ...one,
    changedAt: one.changedAt.toISOString(),
  }));
}

/** What a deployment changes, compared with another one, or with what new jobs get now. */
export async function compareDeployment(
  db: Db,
  tenant: string,
  number: number,
  against: number | null,
): Promise<DifferenceView> {
  await showDeployment(db, tenant, number);
  if (against !== null) await showDeployment(db, tenant, against);
  const before =
    against === null
      ? await releasedDefinitions(db, tenant)
      : await deployedDefinitions(db, against);
  return await compareDefinitions(db, tenant, before, await deployedDefinitions(db, number));
}

export async function compareDefinitions(
  db: Db,
  tenant: string,
  before: readonly DefinitionInfo[],
  after: readonly DefinitionInfo[],
): Promise<DifferenceView> {
  const changes = difference(before, after);
  return { changes, schemaChecks: await checkSchemas(db, tenant, withNewSchema(changes, after)) };
}

/** The deployed definitions that new jobs of a tenant get now. */
export async function releasedDefinitions(
  db: Queryable,
  tenant: string,
): Promise<DefinitionInfo[]> {
  const releases = await ownReleases(db, tenant);
  const numbers = [...new Set(releases.map(({ current }) => current))];
  const all = await Promise.all(
    numbers.map(async (number) => await deployedDefinitions(db, number)),
  );
  const isCurrent = ({ key, version }: DefinitionInfo) =>
    releases.some((one) => one.key === key && one.current === version);
  return all.flat().filter(isCurrent);
}

async function ownReleases(db: Queryable, tenant: string): Promise<StoredRelease[]> {
  return (await listReleases(db)).filter((one) => one.tenant === tenant);
}

function viewOf(deployment: Deployment, releases: readonly StoredRelease[]): DeploymentView {
  const { number, sha256, bytes, keys, note, revision, createdBy, createdAt } = deployment;
  const retiredAt = deployment.retiredAt?.toISOString() ?? null;
  return {
    number,
    artifactId: sha256,
    bytes: Number(bytes),
    ...standing({ number, retired: retiredAt !== null }, releases),
    definitions: keys,
    note,
    revision,
    createdBy,
    createdAt: createdAt.toISOString(),
    retiredAt,
  };
}

export function noSuchDeployment(number: number): never {
  throw new Refusal('NOT_FOUND', `deployment ${number} not found`);
}

export function noSuchArtifact(id: string): never {
  throw new Refusal('NOT_FOUND', `artifact ${id.slice(0, 64)} not found: upload it first`);
}
