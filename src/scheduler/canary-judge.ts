import { CANARY_JUDGE, canaryVerdict } from '../core/deployment/canary.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { Db } from '../store/connection/db.ts';
import { canaryCounts } from '../store/deployments/canary-counts.ts';
import { endCanary } from '../store/deployments/releases.ts';
import { notifyReleases } from '../store/connection/wake.ts';

const EVERY_POLLS = 10;
const JUDGE = { name: CANARY_JUDGE, address: null };

/** Ends canaries that fail clearly more often than the current version, and says so. */
export function canaryJudge(
  db: Db,
  pollMs: number,
  log: Log,
  isActive: () => boolean = () => true,
  firstMs = 0,
): Service {
  return new Poller({
    name: 'canaryJudge',
    log,
    firstMs,
    tick: async () => {
      if (!isActive()) return EVERY_POLLS * pollMs;
      for (const { tenant, number, canary, current } of await canaryCounts(db)) {
        const verdict = canaryVerdict(canary, current);
        if (verdict === null) continue;
        const reason = `deployment ${number}: ${verdict}`;
        const ended = await db.transaction(
          async (tx) => await endCanary(tx, JUDGE, tenant, number, reason),
        );
        if (ended.length === 0) continue;
        log.warn({ deployment: number, tenant, reason }, 'a canary was stopped');
        await notifyReleases(db);
      }
      return EVERY_POLLS * pollMs;
    },
  });
}
