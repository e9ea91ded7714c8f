import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { JobDefinition } from './core/define.ts';
import { localQueue } from './local-queue.ts';
import { systemClock } from './runtime/clock.ts';
import type { Log } from './runtime/log.ts';
import { closing, type Service } from './runtime/service.ts';
import { healthWatch } from './scheduler/health-watch.ts';
import { partitioner } from './scheduler/partitioner.ts';
import { promoter } from './scheduler/promoter.ts';
import { pruner } from './scheduler/pruner.ts';
import { reaper } from './scheduler/reaper.ts';
import { Roster } from './scheduler/roster.ts';
import { ownShards } from './scheduler/shard-turns.ts';
import { ticker } from './scheduler/ticker.ts';
import { Db } from './store/db.ts';
import { Inbox } from './store/inbox.ts';
import { Listener } from './store/listen.ts';
import type { Waker } from './store/wake.ts';
import { VERSION } from './version.ts';
import type { RunnerSettings } from './worker/runners.ts';
import { Worker } from './worker/worker.ts';

export interface SchedulerSettings {
  databaseUrl: string;
  pollMs: number;
  leaseMs: number;
  heartbeatMs: number;
  retentionDays: number;
  deadLetterDays: number;
}

export interface LocalWorkerSettings extends SchedulerSettings, RunnerSettings {
  jobs: string | readonly JobDefinition[];
  concurrency: number;
  drainMs: number;
  cancelGraceMs: number;
  logMaxBytes: number;
}

/** Dropping old history copies what survives, which may take minutes and delays nobody. */
const PRUNE_TIMEOUT_MS = 3_600_000;

/** A shard of somebody else is looked at once in so many rounds. */
const FOREIGN_ROUNDS = 5;

/**
 * What keeps jobs moving that no worker holds: due ones, lost ones, those of schedules, and room for
 * new ones. Any number of processes run it; they share the work through the roster.
 */
export function schedulerServices(
  db: Db,
  waker: Waker,
  settings: SchedulerSettings,
  log: Log,
): Service[] {
  const { databaseUrl, pollMs } = settings;
  const patient = Db.open({
    url: databaseUrl,
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
  const roster = new Roster({ ...identity, db, leaseMs, heartbeatMs, log });
  const turns = () => ownShards(roster, db.shards, systemClock, FOREIGN_ROUNDS * pollMs);
  const promoting = promoter(db, waker, pollMs, log, turns());
  const inbox = new Inbox(db, waker, systemClock);
  const ticking = ticker({ db, inbox, log }, roster, pollMs, systemClock);
  const lookAtAll = () => {
    promoting.lookSoon();
    ticking.lookSoon();
  };
  roster.onChange(lookAtAll);
  const listener = new Listener({
    url: databaseUrl,
    log,
    onDue: ({ kind, inMs }) => {
      if (kind === 'jobs') promoting.hint(inMs);
      else if (kind === 'schedules') ticking.hint(inMs);
      else roster.lookSoon();
    },
    onConnected: lookAtAll,
  });
  return [
    closing('pruner connection', async () => await patient.close()),
    partitioner(db, log),
    roster,
    promoting,
    ticking,
    listener,
    reaper(db, waker, systemClock, pollMs, log, turns()),
    pruner(patient, settings, log, () => roster.owns(0)),
    healthWatch(db, systemClock, log),
  ];
}

/**
 * A worker in this process. It also promotes and reaps, so that retries and rescues never wait for a
 * role that somebody forgot to start; any number of processes may do so at once.
 */
export function localWorker(
  db: Db,
  waker: Waker,
  settings: LocalWorkerSettings,
  log: Log,
): { worker: Worker; services: Service[] } {
  const { databaseUrl, leaseMs, concurrency } = settings;
  const reserved = Db.open({
    url: databaseUrl,
    log,
    shards: db.shards,
    max: 1,
    applicationName: 'longshore heartbeat',
    queryTimeoutMs: Math.max(250, leaseMs / 4),
  });
  const worker = new Worker({
    ...settings,
    queue: localQueue(db, reserved, waker, log),
    slots: concurrency,
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    clock: systemClock,
    log,
  });
  const services = [
    ...schedulerServices(db, waker, settings, log),
    closing('reserved connection', async () => await reserved.close()),
    worker,
  ];
  return { worker, services };
}
