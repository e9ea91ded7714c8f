import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { parseAlertDefaults } from '../core/alert/alert-rules.ts';
import { HOUR_MS } from '../core/values/duration.ts';
import { BEAT_TIMING, type BeatTiming } from '../core/queue/lease.ts';
import { RedisBeats } from '../liveness/redis-beats.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { closing, type Service } from '../runtime/service.ts';
import { alertWatch, SETTLE_MS } from '../scheduler/alert-watch.ts';
import { bulkRunner } from '../scheduler/bulk-runner.ts';
import { canaryJudge } from '../scheduler/canary-judge.ts';
import { limitSweeper } from '../scheduler/limit-sweeper.ts';
import { healthWatch } from '../scheduler/health-watch.ts';
import { partitioner } from '../scheduler/partitioner.ts';
import { promoter } from '../scheduler/promoter.ts';
import { pruner } from '../scheduler/pruner.ts';
import { reaper } from '../scheduler/reaper.ts';
import { SchedulerMembership } from '../scheduler/scheduler-membership.ts';
import { ShardSemaphore, ownShards } from '../scheduler/shard-order.ts';
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
  const shardOrder = () => ownShards(membership, systemClock, FOREIGN_ROUNDS * pollMs, semaphore);
  const promoting = promoter(db, waker, pollMs, log, shardOrder(), systemClock, settings.logJobs);
  const enqueuer = new Enqueuer(db, waker, systemClock);
  const ticking = ticker({ db, enqueuer, log }, membership, pollMs, systemClock);
  const bulks = bulkRunner(db, waker, log, systemClock);
  const pollAll = () => {
    promoting.pollSoon();
    ticking.pollSoon();
    bulks.pollSoon();
  };
  membership.onChange(pollAll);
  // LISTEN needs a session, which a transaction pooler does not keep; then polling must do.
  const listeners =
    pooler === 'none'
      ? [
          new Listener({
            url: databaseUrl,
            log,
            onDue: ({ kind, inMs }) => {
              if (kind === 'jobs') promoting.hint(inMs);
              else if (kind === 'schedules') ticking.hint(inMs);
              else if (kind === 'bulk') bulks.hint(inMs);
              else membership.pollSoon();
            },
            onConnected: pollAll,
          }),
        ]
      : [];
  return [
    closing('pruner connection', async () => await patient.close()),
    ...(beating
      ? [beating.beats, suspicion(db, beating.beats, beating.timing, systemClock, log)]
      : []),
    partitioner(db, log),
    membership,
    promoting,
    ticking,
    bulks,
    ...listeners,
    reaper({ ...settings, db, waker, clock: systemClock, log, shardOrder: shardOrder(), beating }),
    unserved({ ...settings, db, waker, log, shardOrder: shardOrder() }),
    limitSweeper(db, waker, pollMs, log, shardOrder()),
    canaryJudge(db, pollMs, log, () => membership.owns(0)),
    pruner(patient, settings, log, () => membership.owns(0)),
    counterKeeper(db, systemClock, log, shardOrder()),
    healthWatch(db, systemClock, log),
    alertWatch({
      db,
      clock: systemClock,
      log,
      defaults: parseAlertDefaults(settings.alerts ?? '') ?? {},
      isActive: () => membership.owns(0),
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
