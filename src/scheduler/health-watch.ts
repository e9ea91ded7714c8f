import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Db } from '../store/connection/db.ts';
import { findHolder, type Holder, tableHealth } from '../store/connection/health.ts';

const EVERY_MS = 60_000;
const HELD_TOO_LONG_MS = 300_000;

/**
 * Detects what holds back vacuum. Claims stay fast, but tables grow without end, so it logs a
 * warning: when a holder has held on for too long, when the holder changes, and when it is over.
 */
export function healthWatch(
  db: Db,
  clock: Clock,
  log: Log,
  { everyMs = EVERY_MS, tooLongMs = HELD_TOO_LONG_MS, firstMs = 0 } = {},
): Poller {
  const heldMs = holderClock(clock);
  let warned: string | null = null;
  return new Poller({
    name: 'health watch',
    log,
    firstMs,
    tick: async () => {
      const holder = await findHolder(db);
      const culprit = holder && heldMs(holder) >= tooLongMs ? holder : null;
      if (culprit && culprit.mark !== warned) await warn(culprit);
      if (!culprit && warned !== null) log.info('vacuum is no longer held back');
      warned = culprit?.mark ?? null;
      return everyMs;
    },
  });

  async function warn(holder: Holder): Promise<void> {
    const { kind, pid, application, state, queryStart } = holder;
    const deadRows: Record<string, number> = {};
    for (const { table, deadRows: dead } of await tableHealth(db)) {
      if (table === 'waiting' || table === 'running') deadRows[table] = dead;
    }
    const heldSeconds = Math.round(heldMs(holder) / 1_000);
    const facts = { kind, pid, application, state, queryStart, heldSeconds, deadRows };
    log.warn(facts, adviceOn(holder, heldSeconds));
  }
}

/**
 * How long the holder has held back vacuum: as the database reports, or since it was first seen.
 */
export function holderClock(clock: Clock): (holder: Holder) => number {
  let seen: { mark: string; sinceMs: number } | null = null;
  return ({ mark, heldMs: reportedMs }) => {
    const now = clock.monotonicMs();
    if (seen?.mark !== mark) seen = { mark, sinceMs: now };
    return Math.max(reportedMs ?? 0, now - seen.sinceMs);
  };
}

/** One sentence about the problem, one about what to do. */
export function adviceOn({ kind, name, application, state, pid }: Holder, heldSeconds: number) {
  const details = [application, state].filter((detail) => detail !== null).join(', ');
  const who = `${kind === 'transaction' ? '' : `${kind} `}${name}${details && ` (${details})`}`;
  const problem =
    `${who} has kept vacuum from removing dead rows for ${heldSeconds} s, ` +
    'so tables grow although jobs end.';
  switch (kind) {
    case 'transaction':
      return (
        `${problem} Commit or roll back there, or end it: select pg_terminate_backend(${pid}). ` +
        'Set idle_in_transaction_session_timeout for its role to prevent it.'
      );
    case 'prepared transaction':
      return `${problem} Run "commit prepared" or "rollback prepared" for it.`;
    case 'replication slot':
      return (
        `${problem} Bring its consumer back, or drop it if it is not needed: ` +
        `select pg_drop_replication_slot('${name}').`
      );
  }
}
