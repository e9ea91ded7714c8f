import { HOUR_MS, MINUTE_MS } from '../core/values/duration.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import { eachShard } from '../runtime/shard-pollers.ts';
import type { Db } from '../store/connection/db.ts';
import { recountCounters } from '../store/counters/roll-up.ts';
import {
  cleanKept,
  dropOldest,
  FIRST_KEY,
  isBusy,
  keepKeys,
  type KeyCursor,
  type Retention,
  spanPartitions,
  tidyKeys,
} from '../store/change/prune.ts';
import { pruneAlerts } from '../store/alerts/fire-alerts.ts';
import { pruneAudit } from '../store/change/prune-audit.ts';
import { pruneBulks } from '../store/change/prune-bulks.ts';
import { pruneUsage } from '../store/change/prune-usage.ts';
import { pruneSlots } from '../store/schedules/slots.ts';

const KEPT_BATCH = 1_000;
const KEY_PAGE = 5_000;
const KEY_PAGES = 200;
/** The number of slots kept per schedule, however old. */
const SLOTS_KEPT = 1_000;
const SCHEDULES_AT_ONCE = 100;

/**
 * Deletes what is past its retention. After weeks off, several partitions may be due; they are
 * dropped one at a time, so that other work gets through. `db` should be a pool of its own: copying
 * what survives may take longer than the usual statement timeout.
 */
export function pruner(
  db: Db,
  retention: Retention & {
    auditDays?: number | undefined;
    usageDays?: number | undefined;
    bulkDays?: number | undefined;
    idempotencyDays?: number | undefined;
  },
  log: Log,
  mayPrune: () => boolean = () => true,
): Poller {
  // The cursor of the walk through the keys of each shard. Empty when no walk is under way.
  const walks = new Map<number, KeyCursor>();
  /** Shards whose jobs must be recounted. */
  const uncounted = new Set<number>();
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const { auditDays = 0, usageDays = 0, bulkDays = 0, idempotencyDays = 0 } = retention;
  const keyDays = Math.max(retention.retentionDays, idempotencyDays);
  let waiting = false;
  return new Poller({
    name: 'pruner',
    log,
    retryMs: MINUTE_MS,
    maxRetryMs: HOUR_MS,
    tick: async (signal) => {
      if (!mayPrune()) return HOUR_MS;
      // A failure of one shard is retried later; the rest of the round continues.
      const failures: unknown[] = [];
      const later = (error: unknown) => void failures.push(error);
      const slots = eachShard(shards, async (shard) => await pruneShardSlots(shard, signal));
      const slotsPruned = slots.catch(later);
      await pruneAll(pruneAudit, auditDays, signal).catch(later);
      await pruneAll(pruneUsage, usageDays, signal).catch(later);
      await pruneAll(pruneBulks, bulkDays, signal).catch(later);
      await spanPartitions(db, retention.retentionDays).catch(later);
      await keepKeys(db, idempotencyDays).catch(later);
      const dropped = await dropAll(signal).catch(later);
      await cleanAll(signal).catch(later);
      await forgetAlerts(signal).catch(later);
      await eachShard([...uncounted], recount).catch(later);
      await eachShard([...walks.keys()], async (shard) => await freeKeys(shard, signal)).catch(
        later,
      );
      await slotsPruned;
      if (failures.length > 0) throw failures[0];
      return !dropped || walks.size > 0 ? MINUTE_MS : HOUR_MS;
    },
  });

  async function pruneShardSlots(shard: number, signal: AbortSignal): Promise<void> {
    let schedules = SCHEDULES_AT_ONCE;
    while (schedules === SCHEDULES_AT_ONCE && !signal.aborted) {
      ({ schedules } = await pruneSlots(db, shard, SLOTS_KEPT, SCHEDULES_AT_ONCE));
    }
  }

  /** Page by page; 0 days means for ever. */
  async function pruneAll(
    prunePage: (db: Db, days: number) => Promise<boolean>,
    days: number,
    signal: AbortSignal,
  ): Promise<void> {
    for (let more = days > 0; more && !signal.aborted;) more = await prunePage(db, days);
  }

  /** False when the tables were busy: dropping would block all others. */
  async function dropAll(signal: AbortSignal): Promise<boolean> {
    try {
      while (!signal.aborted) {
        const dropped = await dropOldest(db, retention, signal);
        if (!dropped) break;
        const { retentionDays, deadLetterDays } = retention;
        const facts = { ...dropped, retentionDays, deadLetterDays };
        log.info(facts, 'dropped history past its retention');
        startWalks();
      }
      waiting = false;
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (!waiting) log.info('history past its retention is in use; dropping it later');
      waiting = true;
      return false;
    }
  }

  async function cleanAll(signal: AbortSignal): Promise<void> {
    let cleaned = KEPT_BATCH;
    while (cleaned === KEPT_BATCH && !signal.aborted) {
      cleaned = await cleanKept(db, retention, KEPT_BATCH);
      if (cleaned > 0) startWalks();
    }
  }

  async function forgetAlerts(signal: AbortSignal): Promise<void> {
    let gone = KEPT_BATCH;
    while (gone === KEPT_BATCH && !signal.aborted) {
      gone = await pruneAlerts(db, retention.retentionDays, KEPT_BATCH);
    }
  }

  /**
   * Keys without a job can only exist after a drop, and the process that dropped looks for them.
   */
  function startWalks(): void {
    for (const shard of shards) {
      uncounted.add(shard);
      walks.set(shard, FIRST_KEY);
    }
  }

  /** Dropping a partition does not update the counters. */
  async function recount(shard: number): Promise<void> {
    await recountCounters(db, shard);
    uncounted.delete(shard);
  }

  async function freeKeys(shard: number, signal: AbortSignal): Promise<void> {
    let cursor: KeyCursor | null = walks.get(shard) ?? FIRST_KEY;
    for (let page = 0; page < KEY_PAGES && cursor && !signal.aborted; page += 1) {
      cursor = (await tidyKeys(db, shard, cursor, KEY_PAGE, keyDays)).last;
    }
    if (cursor) walks.set(shard, cursor);
    else walks.delete(shard);
  }
}
