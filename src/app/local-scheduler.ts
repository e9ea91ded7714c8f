import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { parseAlertDefaults } from '../core/alert/alert-rules.ts';
import { HOUR_MS } from '../core/values/duration.ts';
import { BEAT_TIMING, type BeatTiming } from '../core/queue/lease.ts';
import { quietMs, quietStretch } from '../core/shards/quiet.ts';
import { RedisBeats } from '../liveness/redis-beats.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { closing, type Service } from '../runtime/service.ts';
import { alertWatch, SETTLE_MS } from '../scheduler/alert-watch.ts';
import { batchCanceller } from '../scheduler/batches/batch-canceller.ts';
import { bulkRunner } from '../scheduler/bulk-runner.ts';
import { canaryJudge } from '../scheduler/canary-judge.ts';
import { lookout } from '../scheduler/lookout.ts';
import { limitSweeper } from '../scheduler/limit-sweeper.ts';
import { healthWatch } from '../scheduler/health-watch.ts';
import { partitioner } from '../scheduler/partitioner.ts';
import { promoter } from '../scheduler/promoter.ts';
import { pruner } from '../scheduler/pruner.ts';
import { reaper } from '../scheduler/reaper.ts';
import { resolver } from '../scheduler/resolver.ts';
import { SchedulerMembership } from '../scheduler/scheduler-membership.ts';
import { QuietShards } from '../core/shards/quiet-shards.ts';
import { type ShardOrder, ShardSemaphore, ownShards, sparing } from '../scheduler/shard-order.ts';
import { suspicion } from '../scheduler/suspicion.ts';
import { counterKeeper } from '../scheduler/counter-keeper.ts';
import { ticker } from '../scheduler/ticker.ts';
import { unserved } from '../scheduler/unserved.ts';
import { Db, type Pooler } from '../store/connection/db.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import { Listener } from '../store/connection/listen.ts';
import type { Waker } from '../store/connection/wake.ts';
import { VERSION } from '../version.ts';

export interface SchedulerSettings {
  databaseUrl: string;
  pooler: Pooler;
  redisUrl: string | null;
  /** Overridden in tests only. */
  beatTiming?: BeatTiming;
  pollMs: number;
  leaseMs: number;
  heartbeatMs: number;
  retentionDays: number;
  auditDays?: number | undefined;
  usageDays?: number | undefined;
  bulkDays?: number | undefined;
  idempotencyDays?: number | undefined;
  deadLetterDays: number;
  unservedAfterMs: number;
  /** The alert settings of the configuration. */
  alerts?: string | null;
  /** Which jobs get log lines. */
  logJobs?: string | undefined;
}

/** Dropping old history copies the rows that survive, which may take minutes without blocking. */
const PRUNE_TIMEOUT_MS = HOUR_MS;

/** Shards of other schedulers are polled once in this many rounds. */
const FOREIGN_ROUNDS = 5;

/** How often the loops poll by themselves that the lookout wakes, in poll intervals. */
const REST_POLLS = 10;
/**
 * What is not urgent begins these many looks after the start, one after the other, and not on as
 * many new connections while the first jobs run. The lookout looks at once: what it finds does not wait.
 */
const FIRST_LOOKS = {
  reaping: 1,
  counting: 1.5,
  sweeping: 2,
  unserved: 3,
  canaries: 4,
  health: 5,
  cancels: 6,
};

/** The lookout looks at least this often: counters are at most a second behind. */
const LOOK_MS_MAX = 1_000;

/** How many times longer the counters of a quiet shard rest: a metric shows how old they are. */
const COUNTERS_STRETCH = 4;

/** How many times longer the canceller of batches rests where there are many shards. */
const CANCELS_STRETCH = 4;

/** The most loops of a scheduler on one shard at the same time. */
const LOOPS_PER_SHARD = 3;

/**
 * The services that move jobs no worker holds: due jobs, lost jobs, schedules, and partitions for
 * new ones. Any number of processes run them; they divide the work by `SchedulerMembership`.
 */
export function schedulerServices(
  db: Db,
  waker: Waker,
  settings: SchedulerSettings,
  log: Log,
  beating: Beating | null = openBeats(settings, log),
  shared: Listener | null = null,
): Service[] {
  const { databaseUrl, pooler, pollMs } = settings;
  const patient = Db.open({
    clock: systemClock,
    url: databaseUrl,
    pooler,
    log,
    shards: db.shards,
    max: 2,
    applicationName: 'longshore pruner',
    queryTimeoutMs: PRUNE_TIMEOUT_MS,
  });
  const { leaseMs, heartbeatMs } = settings;
  const identity = {
    instance: randomUUID(),
    host: hostname(),
    pid: process.pid,
    version: VERSION,
  };
  const membership = new SchedulerMembership({ ...identity, db, leaseMs, heartbeatMs, log });
  // With one shard there are no other shards to leave connections for.
  const semaphore = new ShardSemaphore(db.shards === 1 ? Infinity : LOOPS_PER_SHARD);
  const foreignMs = FOREIGN_ROUNDS * pollMs;
  const clock = systemClock;
  // LISTEN needs a session, which a transaction pooler does not keep; then polling must do, and no
  // shard is left alone.
  const listens = pooler === 'none';
  const stretch = listens ? quietStretch(db.shards) : 1;
  const lookMs = Math.min(pollMs, LOOK_MS_MAX);
  const quiet = new QuietShards(db.shards, lookMs, listens ? quietMs(lookMs, db.shards) : lookMs);
  const own = (everyMs: number) => ownShards(membership, clock, everyMs, semaphore);
  // A little less than its interval, so that each of its own rounds visits all shards.
  const dueMs = foreignMs - pollMs;
  const dueOrder = sparing(own(dueMs), quiet, clock, stretch * dueMs);
  // The promoter has chosen the shard.
  const any: ShardOrder = { take: async (shard, work) => await semaphore.run(shard, work) };
  const resolving = db.shards > 1 ? resolver(db, waker, clock, log, any) : undefined;
  const { logJobs } = settings;
  const promoting = promoter(db, waker, foreignMs, log, dueOrder, clock, logJobs, resolving);
  const restMs = REST_POLLS * pollMs;
  // The lookout has chosen the shard.
  const chosen = sparing(any, quiet, clock, stretch * restMs);
  const reaping = reaper({
    ...settings,
    db,
    waker,
    clock,
    restMs,
    firstMs: FIRST_LOOKS.reaping * lookMs,
    log,
    shardOrder: chosen,
    beating,
  });
  const sweepMs = FIRST_LOOKS.sweeping * lookMs;
  const sweeping = limitSweeper(db, waker, pollMs, log, chosen, { restMs, firstMs: sweepMs });
  // A little more than the ten seconds after which it rolls up in any case.
  const countMs = (REST_POLLS + 0.5) * LOOK_MS_MAX;
  const countedMs = (Math.min(COUNTERS_STRETCH, stretch) - 0.5) * countMs;
  const counted = sparing(any, quiet, clock, countedMs);
  const counting = counterKeeper(db, clock, log, counted, countMs, FIRST_LOOKS.counting * lookMs);
  const cancelsMs = Math.min(CANCELS_STRETCH, stretch) * restMs;
  const cancelsFirstMs = FIRST_LOOKS.cancels * lookMs;
  const woken = { reaping, sweeping, counting, promoting };
  const enqueuer = new Enqueuer(db, waker, systemClock);
  // It knows when the next slot is due, and hears of changes.
  const tickMs = listens ? quietMs(foreignMs, db.shards) : pollMs;
  const ticking = ticker({ db, enqueuer, log }, membership, tickMs, clock);
  const bulks = bulkRunner(db, waker, log, systemClock);
  const foreignLookMs = (shard: number) => foreignMs * (quiet.isQuiet(shard) ? stretch : 1);
  const lookOrder = ownShards(membership, clock, foreignLookMs, semaphore);
  const looking = lookout(db, woken, lookMs, log, lookOrder, quiet);
  const stir = (shard: number) => {
    if (quiet.stir(shard)) looking.wake(shard);
  };
  const pollAll = () => {
    for (let shard = 0; shard < db.shards; shard += 1) stir(shard);
    promoting.pollSoon();
    ticking.pollSoon();
    bulks.pollSoon();
  };
  membership.onChange(pollAll);
  const allShards = Array.from({ length: db.shards }, (_, shard) => shard);
  const listener = listens ? (shared ?? new Listener({ url: databaseUrl, log })) : null;
  listener?.add({
    // A scheduler of one shard, which is never quiet, need not hear of each job.
    ...(db.shards > 1 && {
      onWork: (hints) => {
        for (const { shard } of hints) stir(shard);
      },
    }),
    onDue: ({ kind, inMs, shard }) => {
      if (kind === 'jobs') {
        for (const one of shard === undefined ? allShards : [shard]) stir(one);
        promoting.hint(inMs, shard ?? null);
      } else if (kind === 'schedules') ticking.hint(inMs);
      else if (kind === 'bulk') bulks.hint(inMs);
      else membership.pollSoon();
    },
    onConnected: pollAll,
  });
  return [
    closing('pruner connection', async () => await patient.close()),
    ...(beating
      ? [beating.beats, suspicion(db, beating.beats, beating.timing, systemClock, log)]
      : []),
    partitioner(db, log),
    membership,
    ...(resolving ? [resolving] : []),
    promoting,
    ticking,
    bulks,
    ...(listener && listener !== shared ? [listener] : []),
    reaping,
    unserved({
      ...settings,
      db,
      waker,
      log,
      firstMs: FIRST_LOOKS.unserved * lookMs,
      shardOrder: sparing(own(foreignMs), quiet, clock, stretch * foreignMs),
    }),
    sweeping,
    batchCanceller(db, cancelsMs, log, own(FOREIGN_ROUNDS * cancelsMs), cancelsFirstMs),
    canaryJudge(db, pollMs, log, () => membership.owns(0), FIRST_LOOKS.canaries * lookMs),
    pruner(patient, settings, log, () => membership.owns(0)),
    counting,
    looking,
    healthWatch(db, systemClock, log, { firstMs: FIRST_LOOKS.health * lookMs }),
    alertWatch({
      db,
      clock: systemClock,
      log,
      defaults: parseAlertDefaults(settings.alerts ?? '') ?? {},
      isActive: () => membership.owns(0),
      isQuiet: (shard) => quiet.isQuiet(shard),
      settleMs: SETTLE_MS,
    }),
  ];
}

export interface Beating {
  beats: RedisBeats;
  timing: BeatTiming;
}

export function openBeats({ redisUrl, beatTiming }: SchedulerSettings, log: Log): Beating | null {
  if (redisUrl === null) return null;
  const timing = beatTiming ?? BEAT_TIMING;
  return { beats: new RedisBeats({ url: redisUrl, ttlMs: timing.ttlMs, log }), timing };
}
