import type { Config } from '../config/config.ts';
import { collector } from '../deployments/collector.ts';
import { Deployer } from '../deployments/deployer.ts';
import { Uploads } from '../deployments/uploads.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { syncReleasedSchedules } from '../scheduler/sync-schedules.ts';
import type { Db } from '../store/connection/db.ts';
import { noteLoadProblem, servedDeployments } from '../store/deployments/served.ts';
import { CodeCache } from './code-cache.ts';
import { lazyStorage } from './lazy-storage.ts';
import type { DeploymentSource } from '../worker/deployed/deployed-code.ts';

/** The parts of an API that take deployments. */
export function localDeployer(
  db: Db,
  enqueuer: Enqueuer,
  config: Config,
  log: Log,
): { deployer: Deployer; uploads: Uploads; tenantDeploys: boolean; collecting: Service } {
  const deployer = new Deployer({
    db,
    onRelease: () => enqueuer.forgetDefinitions(),
    syncSchedules: async (tenant, definitions) =>
      await syncReleasedSchedules({ db, ids: db.ids, log }, tenant, definitions),
  });
  const storage = lazyStorage(config.artifacts);
  const uploads = new Uploads(db, storage, config.artifactKeys?.split(',') ?? []);
  const collecting = collector(db, storage, log);
  return { deployer, uploads, tenantDeploys: config.tenantDeploys === 'on', collecting };
}

export interface CodeSettings {
  artifacts?: string;
  artifactCache?: string | null;
  artifactKeys?: string | null;
}

/** The deployments of a worker with a database connection. */
export function localDeployments(db: Db, settings: CodeSettings): DeploymentSource {
  const storage = lazyStorage(settings.artifacts ?? './.longshore/artifacts');
  const code = new CodeCache(settings);
  return {
    list: async () => await servedDeployments(db, null),
    take: async (deployment) =>
      await code.take(deployment, async (signal) => await storage.get(deployment.sha256, signal)),
    report: async (number, problem) => await noteLoadProblem(db, number, problem),
    close: async () => {
      await code.close();
      storage.close();
    },
  };
}
