import { type Manifest, manifestOf } from '../core/artifact/manifest.ts';
import { DEFAULT_TENANT } from '../core/access/scope.ts';
import type { DefinitionInfo } from '../core/definition/definition.ts';
import type { DeployedView, DeploymentView } from '../core/deployment/deployment-view.ts';
import { rollbackPlan } from '../core/deployment/rollback.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Actor } from '../store/access/audit.ts';
import type { Db, Queryable } from '../store/connection/db.ts';
import { findArtifact } from '../store/deployments/artifacts.ts';
import {
  createDeployment,
  deployedDefinitions,
  findDeployment,
  holdDeployment,
  retireDeployment,
} from '../store/deployments/deployments.ts';
import {
  changeReleases,
  endCanary,
  listReleases,
  type ReleaseChange,
} from '../store/deployments/releases.ts';
import { routeLeftJobs } from '../store/claim/route-jobs.ts';
import { notifyReleases } from '../store/connection/wake.ts';
import { syncLimits } from '../store/limits/sync-limits.ts';
import {
  compareDefinitions,
  noSuchArtifact,
  noSuchDeployment,
  releasedDefinitions,
  showDeployment,
} from './views.ts';

export interface DeployRequest {
  artifactId: string;
  note: string | null;
  revision: string | null;
  /** False: new jobs do not get it before a promotion. */
  promote: boolean;
  canaryPercent: number | null;
  /** The JSON of a manifest, instead of the one in the archive. */
  manifest?: unknown;
}

export interface PromoteRequest {
  number: number;
  /** Null: all definitions of the deployment. */
  keys: readonly string[] | null;
  canaryPercent: number | null;
  reason: string | null;
}

export interface DeployerOptions {
  db: Db;
  /** New jobs must get the release: what this process remembers of definitions is old. */
  onRelease?(): void;
  /** Creates and changes the schedules that released definitions declare. */
  syncSchedules(tenant: string, definitions: readonly DefinitionInfo[]): Promise<void>;
}

/** Creates deployments from uploaded artifacts, and decides which of them new jobs get. */
export class Deployer {
  readonly #options: DeployerOptions;
  readonly #db: Db;

  constructor(options: DeployerOptions) {
    this.#options = options;
    this.#db = options.db;
  }

  async deploy(tenant: string, by: Actor, request: DeployRequest): Promise<DeployedView> {
    const { artifactId: sha256, note, revision, promote, canaryPercent } = request;
    const artifact = (await findArtifact(this.#db, tenant, sha256)) ?? noSuchArtifact(sha256);
    const json = request.manifest ?? artifact.manifest;
    const definitions = definitionsOf(tenant, json);
    const keys = definitions.map(({ key }) => key);
    const released = await releasedDefinitions(this.#db, tenant);
    const differs = await compareDefinitions(this.#db, tenant, released, definitions);
    const number = await this.#db.transaction(async (tx) => {
      const made = { tenant, sha256, note, revision, manifest: json, definitions };
      const created = await createDeployment(tx, by, made);
      const change = { tenant, number: created, keys, canaryPercent, reason: note };
      if (promote) await release(tx, by, change);
      return created;
    });
    if (promote) await this.#apply(tenant, [[number, keys]]);
    return { ...(await showDeployment(this.#db, tenant, number)), ...differs };
  }

  async promote(tenant: string, by: Actor, request: PromoteRequest): Promise<DeploymentView> {
    const { number, canaryPercent, reason } = request;
    const found = await findDeployment(this.#db, tenant, number);
    const { keys: all } = found ?? noSuchDeployment(number);
    const keys = request.keys ?? all;
    const unknown = keys.find((key) => !all.includes(key));
    if (unknown !== undefined) {
      throw new Refusal('VALIDATION_FAILED', `deployment ${number} has no definition ${unknown}`);
    }
    const change = { tenant, number, keys, canaryPercent, reason };
    await this.#db.transaction(async (tx) => {
      await refuseRetired(tx, tenant, number);
      await release(tx, by, change);
    });
    await this.#apply(tenant, [[number, keys]]);
    return await showDeployment(this.#db, tenant, number);
  }

  /** Moves definitions back to the deployment they had before; returns those that new jobs get now. */
  async rollback(
    tenant: string,
    by: Actor,
    { keys, reason }: { keys: readonly string[] | null; reason: string | null },
  ): Promise<DeploymentView[]> {
    const moved = await this.#db.transaction(async (tx) => {
      const own = (await listReleases(tx)).filter((one) => one.tenant === tenant);
      const plan = rollbackPlan(own, keys);
      if (plan.kind === 'refuse') throw new Refusal('CONFLICT', plan.why);
      if (plan.kind === 'move') {
        for (const [number, of] of plan.to) {
          await refuseRetired(tx, tenant, number);
          const change = { tenant, number, keys: of, canaryPercent: null, reason };
          await changeReleases(tx, by, 'deployment.rollback', change);
        }
        return [...plan.to];
      }
      const why = reason ?? 'ended by a rollback';
      const kept = new Map<number, string[]>();
      for (const canary of plan.numbers) {
        for (const { key, current } of await endCanary(tx, by, tenant, canary, why, keys)) {
          kept.set(current, [...(kept.get(current) ?? []), key]);
        }
      }
      return [...kept];
    });
    await this.#apply(tenant, moved);
    return await Promise.all(
      moved.map(async ([number]) => await showDeployment(this.#db, tenant, number)),
    );
  }

  async retire(tenant: string, by: Actor, number: number): Promise<DeploymentView> {
    if (!(await findDeployment(this.#db, tenant, number))) noSuchDeployment(number);
    const gone = await retireDeployment(this.#db, by, tenant, number);
    // Their schedules are paused: no deployment serves their jobs any more.
    const definitions = await deployedDefinitions(this.#db, number);
    const unscheduled = definitions
      .filter(({ key }) => gone.includes(key))
      .map((info) => ({ ...info, schedules: [] }));
    await this.#options.syncSchedules(tenant, unscheduled);
    this.#options.onRelease?.();
    return await showDeployment(this.#db, tenant, number);
  }

  /** Limits and schedules follow the release, and workers learn of it. */
  async #apply(
    tenant: string,
    moved: readonly (readonly [number, readonly string[]])[],
  ): Promise<void> {
    const releases = (await listReleases(this.#db)).filter((one) => one.tenant === tenant);
    for (const [number, keys] of moved) {
      const all = await deployedDefinitions(this.#db, number);
      // A canary has no schedules: they are those of the current deployment.
      const isCurrent = (key: string) =>
        releases.some((one) => one.key === key && one.current === number);
      const definitions = all.filter(({ key }) => keys.includes(key) && isCurrent(key));
      if (tenant === DEFAULT_TENANT) await syncLimits(this.#db, keys);
      await this.#options.syncSchedules(tenant, definitions);
    }
    this.#options.onRelease?.();
    for (let shard = 0; shard < this.#db.shards; shard += 1) await routeLeftJobs(this.#db, shard);
    await notifyReleases(this.#db);
  }
}

async function refuseRetired(tx: Queryable, tenant: string, number: number): Promise<void> {
  if (await holdDeployment(tx, tenant, number)) return;
  throw new Refusal('CONFLICT', `deployment ${number} is retired: deploy it again`);
}

async function release(tx: Queryable, by: Actor, change: ReleaseChange): Promise<void> {
  const isCanary = change.canaryPercent !== null;
  await changeReleases(tx, by, isCanary ? 'deployment.canary' : 'deployment.promote', change);
}

function definitionsOf(tenant: string, json: unknown): DefinitionInfo[] {
  if (json === null || json === undefined) {
    throw new Refusal(
      'VALIDATION_FAILED',
      'the artifact has no longshore.json: create its definitions with POST /v1/definitions',
    );
  }
  const manifest: Manifest = manifestOf(json);
  const definitions = manifest.definitions.map(({ info }) => info);
  const twice = definitions.find(
    ({ key }, index) => definitions.findIndex((one) => one.key === key) < index,
  );
  if (twice) {
    throw new Refusal(
      'VALIDATION_FAILED',
      `${twice.key} has several versions: a deployment has one of each definition, and its number is the version`,
    );
  }
  const limited = definitions.find(({ limits }) => Object.values(limits).some(Boolean));
  if (tenant !== DEFAULT_TENANT && limited) {
    throw new Refusal(
      'VALIDATION_FAILED',
      `${limited.key}: definitions of a tenant have no limits of their own; the limit of the tenant counts`,
    );
  }
  const inside = definitions.find(({ isolation }) => !OUTSIDE.includes(isolation));
  if (tenant !== DEFAULT_TENANT && inside) {
    throw new Refusal(
      'VALIDATION_FAILED',
      `${inside.key}: code of a tenant needs isolation 'process' or 'fresh', not '${inside.isolation}'`,
    );
  }
  return definitions;
}

/** Code that runs in a process of its own, without access to the worker. */
const OUTSIDE: readonly string[] = ['process', 'fresh'];
