import type { Config } from '../config/config.ts';
import { AppError, openDatabase } from './open-database.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { stopAll } from '../runtime/service.ts';
import { Db } from '../store/connection/db.ts';
import { migrate } from '../store/connection/migrate.ts';
import { sealCensus } from '../store/connection/reseal.ts';

/** The role of a key; `missing` is a key that values need and the ring lacks. */
export interface EncryptionKeyUse {
  id: string;
  use: 'encrypts' | 'decrypts' | 'missing';
  values: number;
}

export interface EncryptionReport {
  keys: EncryptionKeyUse[];
  resealed: number;
  unopened: number;
}

/** Implements `longshore encryption` on the database directly, with or without running servers. */
export async function encryptionApp(
  config: Config,
  log: Log,
  { reseal }: { reseal: boolean },
): Promise<EncryptionReport> {
  if (reseal && config.encryptionKeys === null) {
    throw new AppError('no encryption key: set LONGSHORE_ENCRYPTION_KEYS');
  }
  const database = await openDatabase(config, { ownCluster: 'unless-running' }, log);
  const { pooler, shards, encryptionKeys } = config;
  const { url } = database;
  try {
    await migrate({ url, log, shards });
    const db = Db.open({ clock: systemClock, url, pooler, log, shards, encryptionKeys, max: 2 });
    try {
      const { values, resealed, unopened } = await sealCensus(db, { reseal });
      const { keyId, keyIds } = db.vault;
      const ids = [...keyIds, ...Object.keys(values).filter((id) => !keyIds.includes(id))];
      const keys = ids.map((id) => {
        const use = id === keyId ? 'encrypts' : keyIds.includes(id) ? 'decrypts' : 'missing';
        return { id, use, values: values[id] ?? 0 } as const;
      });
      return { keys, resealed, unopened };
    } finally {
      await db.close();
    }
  } finally {
    await stopAll(database.services);
  }
}
