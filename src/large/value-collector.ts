import type { ArtifactStorage } from '../artifacts/storage.ts';
import { HOUR_MS } from '../core/values/duration.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { Db } from '../store/connection/db.ts';
import { forgetLargeValue, nextLargeValues } from '../store/large/large-values.ts';

const EVERY_MS = 600_000;
const PAGE = 500;

/**
 * Deletes large values that no job needs: those of deleted jobs, of requests that stored no job, and
 * results of attempts that did not count. Several servers may do so at once.
 */
export function valueCollector(db: Db, storage: ArtifactStorage, log: Log): Service {
  return new Poller({
    name: 'collector of large values',
    log,
    tick: async (signal) => {
      const deleted = await collectValues(db, storage, log, { signal });
      if (deleted > 0) log.info({ values: deleted }, 'deleted large values that no job needs');
      return EVERY_MS;
    },
  });
}

/** Answers with the number of deleted values. `graceMs`: younger ones are kept. */
export async function collectValues(
  db: Db,
  storage: ArtifactStorage,
  log: Log,
  { signal, graceMs = HOUR_MS }: { signal?: AbortSignal; graceMs?: number } = {},
): Promise<number> {
  let deleted = 0;
  for (let shard = 0; shard < db.shards; shard += 1) {
    let page = await nextLargeValues(db, shard, null, { graceMs, limit: PAGE });
    while (page.length > 0) {
      if (signal?.aborted) return deleted;
      for (const value of page.filter(({ unneeded }) => unneeded)) {
        try {
          await storage.delete(value.name);
          await forgetLargeValue(db, value);
          deleted += 1;
        } catch (error) {
          log.warn({ err: error, name: value.name }, 'cannot delete a large value; trying later');
          return deleted;
        }
      }
      page = await nextLargeValues(db, shard, page.at(-1) ?? null, { graceMs, limit: PAGE });
    }
  }
  return deleted;
}
