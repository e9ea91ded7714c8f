import type { ArtifactStorage } from '../artifacts/storage.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { Db } from '../store/connection/db.ts';
import { removeUnused, retireOld } from '../store/deployments/collect.ts';

const EVERY_MS = 600_000;

/**
 * Retires deployments that no release, no job and no operator needs: the last 20 of a tenant stay.
 * A day later their archives are deleted.
 */
export function collector(db: Db, storage: ArtifactStorage, log: Log): Service {
  return new Poller({
    name: 'collector of deployments',
    log,
    tick: async () => {
      await collect(db, storage, log);
      return EVERY_MS;
    },
  });
}

export async function collect(db: Db, storage: ArtifactStorage, log: Log): Promise<void> {
  const retired = await retireOld(db);
  if (retired.length > 0) log.info({ deployments: retired }, 'retired old deployments');
  for (const sha256 of await removeUnused(db)) {
    // A later upload of the same content stores it again.
    await storage.delete(sha256).catch((error: unknown) => {
      log.warn({ err: error, sha256 }, 'cannot delete an artifact that is not needed any more');
    });
  }
}
