import { HOUR_MS } from '../core/values/duration.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Db } from '../store/connection/db.ts';
import { ensurePartitions } from '../store/connection/partitions.ts';

/** Keeps a week of partitions ahead, so that no insert waits for one. */
export function partitioner(db: Db, log: Log): Poller {
  return new Poller({
    name: 'partitioner',
    log,
    tick: async () => {
      const made = await ensurePartitions(db);
      if (made > 0) log.info({ made }, 'partitions made');
      return HOUR_MS;
    },
  });
}
