import type { AlertView } from '../core/alert/alert.ts';
import { type AlertDefaults, judge } from '../core/alert/alert-rules.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import { readAlertRules, saveAlertDefaults } from '../store/alerts/alert-rules.ts';
import type { Db } from '../store/connection/db.ts';
import { fireAlerts, resolveAlerts } from '../store/alerts/fire-alerts.ts';
import { sendNotices } from '../store/alerts/notices.ts';
import { measurer } from './measure.ts';

const EVERY_MS = 15_000;
/**
 * An alert is resolved only after the value has stayed below the threshold for this long; one about an
 * age in the first check without it.
 */
const RESOLVE_AFTER_MS = 60_000;
const RESOLVE_BATCH = 500;
/** What was found in a shard where nothing happens counts for this many rounds. */
const QUIET_ROUNDS = 16;
/** Workers that start with the server have registered by then: what waited for them is no problem. */
export const SETTLE_MS = 15_000;

export interface AlertWatchOptions {
  db: Db;
  clock: Clock;
  log: Log;
  /** The alert settings of the configuration. */
  defaults?: AlertDefaults;
  /**
   * Whether this scheduler is responsible. It only saves work: see `store/alerts/fire-alerts.ts`.
   */
  isActive?: () => boolean;
  /** Whether nothing happens in a shard; such a shard is measured in each sixteenth round only. */
  isQuiet?: (shard: number) => boolean;
  /** The wait before the first check. */
  settleMs?: number;
  everyMs?: number;
  resolveAfterMs?: number;
}

/**
 * Measures, applies the rules, fires, resolves, and makes the messages of routes. Findings fire even
 * when some shard could not be measured. Alerts are resolved only after a complete measurement: else
 * the round is repeated later.
 */
export function alertWatch(options: AlertWatchOptions): Poller {
  const { db, clock, log, defaults = {}, isActive = () => true } = options;
  const { everyMs = EVERY_MS, resolveAfterMs = RESOLVE_AFTER_MS } = options;
  const measure = measurer(db, clock, { isQuiet: options.isQuiet, keptMs: QUIET_ROUNDS * everyMs });
  let settleMs = options.settleMs ?? 0;
  return new Poller({
    name: 'alerts',
    log,
    maxRetryMs: everyMs,
    tick: async () => {
      if (settleMs > 0) {
        const leftMs = settleMs;
        settleMs = 0;
        return leftMs;
      }
      if (!isActive()) return everyMs;
      await saveAlertDefaults(db, defaults);
      const rules = await readAlertRules(db, null);
      const { findings, failure } = await measure(rules);
      const fired = await fireAlerts(db, judge(findings, rules));
      for (const alert of fired) log.warn(factsOf(alert), 'alert.fired');
      if (failure !== null) {
        await sendNotices(db);
        throw failure;
      }
      const resolved = await resolveAlerts(db, resolveAfterMs, RESOLVE_BATCH, everyMs / 2);
      for (const alert of resolved) log.info(factsOf(alert), 'alert.resolved');
      await sendNotices(db);
      return resolved.length === RESOLVE_BATCH ? 0 : everyMs;
    },
  });
}

function factsOf({ id, rule, tenant, definitionKey, value, threshold, message }: AlertView) {
  return { alertId: id, rule, tenant, definitionKey, value, threshold, alert: message };
}
