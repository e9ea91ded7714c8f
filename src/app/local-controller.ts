import { Controller } from '../controller/controller.ts';
import type { Config } from '../config/config.ts';
import { systemClock } from '../runtime/clock.ts';
import type { LargeValues } from '../large/large-values.ts';
import type { Log } from '../runtime/log.ts';
import { Db } from '../store/connection/db.ts';
import type { Waker } from '../store/connection/wake.ts';
import { localQueue } from './local-queue.ts';

/** The most concurrent heartbeats of remote workers. */
const HEARTBEATS_MAX = 8;

/** Connections for heartbeats of remote workers. None is open before the first heartbeat. */
export function heartbeatConnections(
  { shards }: Db,
  { databaseUrl: url, pooler, leaseMs }: Config & { databaseUrl: string },
  log: Log,
): Db {
  return Db.open({
    clock: systemClock,
    url,
    pooler,
    log,
    shards,
    max: Math.min(2 * shards, HEARTBEATS_MAX),
    applicationName: 'longshore heartbeat',
    queryTimeoutMs: Math.max(250, leaseMs / 4),
  });
}

/** Serves workers over HTTP, as a part of the API. */
export function localController(
  db: Db,
  reserved: Db,
  waker: Waker,
  config: Config & { databaseUrl: string },
  log: Log,
  large: LargeValues,
): Controller {
  const { databaseUrl, pooler, leaseMs, pollMs } = config;
  return new Controller({
    db,
    reserved,
    store: localQueue(db, reserved, waker, config, log, large),
    databaseUrl: pooler === 'none' ? databaseUrl : null,
    leaseMs,
    pollMs,
    clock: systemClock,
    log,
  });
}
