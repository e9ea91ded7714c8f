import { definitionInfo } from '../../src/core/definition/check-definition.ts';
import type { DefinitionInfo } from '../../src/core/definition/definition.ts';
import { addArtifact } from '../../src/store/deployments/artifacts.ts';
import { createDeployment } from '../../src/store/deployments/deployments.ts';
import { changeReleases } from '../../src/store/deployments/releases.ts';
import type { TestDatabase } from './servers/database.ts';

const BY = { name: 'test', address: null };

/** A deployment of these definitions, without code. It is released only by `release`. */
export async function newDeployment(
  { db }: Pick<TestDatabase, 'db'>,
  keys: readonly string[],
  { tenant = 'default', ...rules }: Partial<DefinitionInfo> & { tenant?: string } = {},
): Promise<number> {
  const sha256 = '1'.repeat(64);
  const archive = { sha256, format: 'zip', bytes: 1, manifest: null, signature: null } as const;
  await addArtifact(db, tenant, BY, archive);
  const definitions = keys.map((key) => ({
    ...definitionInfo({ key }, { paramsSchema: null }),
    ...rules,
  }));
  const about = { tenant, sha256, note: null, revision: null, manifest: {} };
  return await db.transaction(
    async (tx) => await createDeployment(tx, BY, { ...about, definitions }),
  );
}

export async function release(
  { db }: Pick<TestDatabase, 'db'>,
  number: number,
  keys: readonly string[],
  canaryPercent: number | null = null,
  tenant = 'default',
): Promise<void> {
  const action = canaryPercent === null ? 'deployment.promote' : 'deployment.canary';
  const change = { tenant, number, keys, canaryPercent, reason: null };
  await changeReleases(db, BY, action, change);
}
