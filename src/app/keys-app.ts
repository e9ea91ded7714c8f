import type { Config } from '../config/config.ts';
import { FIRST_KEY_NEEDS_ADMIN, mayBeFirstKey } from '../core/access/scope.ts';
import type { KeyView } from '../core/views/key-view.ts';
import { AppError, type Database, openDatabase } from './open-database.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { stopAll } from '../runtime/service.ts';
import { anyKey } from '../store/access/credentials.ts';
import { Db } from '../store/connection/db.ts';
import {
  createKey,
  type KeyRequest,
  listKeys,
  type MadeKey,
  revokeKey,
  rotateKey,
} from '../store/access/keys.ts';
import { migrate } from '../store/connection/migrate.ts';

/**
 * Implements `longshore keys` on the database directly, because the first key cannot come from the
 * API.
 */
export interface KeyDesk {
  /** A description of the database. */
  database: string;
  /** Whether a server may use it now: an embedded one was not started for this call. */
  isServed: boolean;
  create(request: KeyRequest): Promise<MadeKey>;
  list(tenant: string): Promise<KeyView[]>;
  revoke(tenant: string, keyId: string): ReturnType<typeof revokeKey>;
  rotate(tenant: string, keyId: string, overlapMs: number): ReturnType<typeof rotateKey>;
}

const BY = { name: 'cli', address: null };

/**
 * Opens the database of a server with these settings. An embedded one that does not run is started
 * for the time of the call; the caller decides whether it may be created.
 */
export async function withKeyDesk<T>(
  config: Config,
  log: Log,
  { makesCluster }: { makesCluster: boolean },
  work: (desk: KeyDesk) => Promise<T>,
): Promise<T> {
  const ownCluster = makesCluster ? 'unless-running' : 'if-it-exists';
  const database = await openDatabase(config, { ownCluster }, log);
  try {
    return await atDesk(database, config, log, work);
  } finally {
    await stopAll(database.services);
  }
}

async function atDesk<T>(
  { url, label, services }: Database,
  { pooler, shards, oidcIssuer }: Config,
  log: Log,
  work: (desk: KeyDesk) => Promise<T>,
): Promise<T> {
  await migrate({ url, log, shards });
  const db = Db.open({ clock: systemClock, url, pooler, log, shards, max: 2 });
  try {
    return await work({
      database: label,
      isServed: services.length === 0,
      create: async (request) => {
        const isLocked = !mayBeFirstKey(request.tenant, request.scopes) && !(await anyKey(db));
        // With an identity provider, its admins can create keys.
        if (isLocked && !oidcIssuer) throw new AppError(FIRST_KEY_NEEDS_ADMIN);
        return await createKey(db, BY, request);
      },
      list: async (tenant) => listKeys(db, tenant),
      revoke: async (tenant, keyId) => revokeKey(db, BY, tenant, keyId),
      rotate: async (tenant, keyId, overlapMs) => rotateKey(db, BY, tenant, keyId, overlapMs),
    });
  } finally {
    await db.close();
  }
}
