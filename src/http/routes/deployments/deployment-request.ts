import type { FastifyRequest } from 'fastify';
import { DEFAULT_TENANT } from '../../../core/access/scope.ts';
import type { Deployer } from '../../../deployments/deployer.ts';
import { noSuchArtifact } from '../../../deployments/views.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { callerOf } from '../../access/caller.ts';
import type { HttpDeps } from '../../deps.ts';
import { unavailable } from '../../problem.ts';

/** Code of a tenant runs on the workers of all, so the operator must allow it. */
export function deployingTenant(request: FastifyRequest, { tenantDeploys }: HttpDeps): string {
  const { tenant, home } = callerOf(request);
  if (home === DEFAULT_TENANT || tenantDeploys) return tenant;
  throw new Refusal(
    'FORBIDDEN',
    'tenants may not deploy on this server: LONGSHORE_TENANT_DEPLOYS=on allows it',
  );
}

export function deployerOf({ deployer }: HttpDeps): Deployer {
  if (!deployer) throw unavailable('this server takes no deployments');
  return deployer;
}

/** The number of a deployment in a path. */
export function deploymentNumber({ number }: { number: number | string }): number {
  if (/^[1-9]\d{0,8}$/.test(String(number))) return Number(number);
  throw new Refusal('NOT_FOUND', 'the number of a deployment is a whole number from 1');
}

/** The id of an artifact in a path. */
export function artifactIdOf({ artifactId }: { artifactId: string }): string {
  return /^[0-9a-f]{64}$/.test(artifactId) ? artifactId : noSuchArtifact(artifactId);
}
