import { hostname } from 'node:os';
import { Publishers } from '../brokers/publishers.ts';
import type { Config } from '../config/config.ts';
import type { JobDefinition } from '../core/definition/define.ts';
import { builtIn } from './built-in/built-in.ts';
import { localDeployments } from './local-deployments.ts';
import { localValues } from './values/local-values.ts';
import { localQueue, type SpawnSettings } from './local-queue.ts';
import { openBeats, schedulerServices, type SchedulerSettings } from './local-scheduler.ts';
import { meteredQueue } from '../metrics/metered-queue.ts';
import { MetricsServer } from '../metrics/metrics-server.ts';
import { WorkerMetrics } from '../metrics/worker-metrics.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { closing, type Service } from '../runtime/service.ts';
import { Db } from '../store/connection/db.ts';
import { Listener } from '../store/connection/listen.ts';
import type { Waker } from '../store/connection/wake.ts';
import { VERSION } from '../version.ts';
import type { RunnerSettings } from '../worker/runners/runners.ts';
import type { DeliverySettings } from '../webhooks/deliveries.ts';
import { directQueue } from '../worker/claim/direct-queue.ts';
import { Worker } from '../worker/worker.ts';

export interface LocalWorkerSettings
  extends SchedulerSettings, RunnerSettings, DeliverySettings, SpawnSettings {
  jobs: string | readonly JobDefinition[];
  concurrency: number;
  /** The lease while heartbeats arrive in Redis. */
  redisLeaseMs: number;
  drainMs: number;
  cancelGraceMs: number;
  logMaxBytes: number;
  streamMaxBytes?: number | undefined;
  ageingMs?: number | undefined;
  /** The host of the process metrics for Prometheus. */
  metricsHost?: string;
  metricsPort?: number | null;
  /** Message brokers by name. */
  brokers?: string | null;
  /** Whether it serves deployed code. */
  deployments?: Config['deployments'];
  artifacts?: string;
  largeValuesMaxBytes?: number;
  artifactCache?: string | null;
  artifactKeys?: string | null;
}

/** The most concurrent heartbeats over all shards. */
const HEARTBEATS_MAX = 8;

export interface LocalWorker {
  worker: Worker;
  services: Service[];
  /** Resolves when a drain of the worker is requested; the process must stop it. */
  drainAsked: Promise<void>;
}

/**
 * A worker in this process. It also promotes and reaps, unless told otherwise, so that retries and
 * recovery do not depend on a scheduler process; any number of processes may do so at once.
 */
export function localWorker(
  db: Db,
  waker: Waker,
  settings: LocalWorkerSettings,
  log: Log,
  schedules = true,
): LocalWorker {
  const { databaseUrl, pooler, leaseMs, concurrency } = settings;
  const reserved = Db.open({
    clock: systemClock,
    url: databaseUrl,
    pooler,
    log,
    shards: db.shards,
    // A shard that does not answer must not delay the lease of another.
    max: Math.min(db.shards, HEARTBEATS_MAX),
    applicationName: 'longshore heartbeat',
    queryTimeoutMs: Math.max(250, leaseMs / 4),
  });
  const { metricsHost: host = '127.0.0.1', metricsPort: port = null } = settings;
  const metrics = new WorkerMetrics();
  const text = async () => await metrics.text();
  const beating = openBeats(settings, log);
  const asked = Promise.withResolvers<void>();
  const mode = deploymentMode(settings, schedules);
  const publishers = new Publishers(settings.brokers);
  const values = localValues(db, settings, log);
  // LISTEN needs a session, which a transaction pooler does not keep.
  const listener = pooler === 'none' ? new Listener({ url: databaseUrl, log }) : undefined;
  const worker = new Worker({
    ...settings,
    ...(mode === 'only' && { jobs: [] }),
    deploymentSource: mode === 'off' ? null : localDeployments(db, settings),
    queue: directQueue(
      meteredQueue(localQueue(db, reserved, waker, settings, log, values.large), metrics),
    ),
    databaseUrl: listener ? databaseUrl : null,
    listener,
    beating: beating && { ...beating, leaseMs: settings.redisLeaseMs },
    slots: concurrency,
    builtIn: builtIn(db, systemClock, settings, publishers),
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    clock: systemClock,
    log,
    onDrain: asked.resolve,
  });
  const services = [
    ...(port === null ? [] : [new MetricsServer({ host, port, text, log })]),
    ...(schedules
      ? schedulerServices(db, waker, settings, log, beating, listener)
      : beating
        ? [beating.beats]
        : []),
    ...(listener ? [listener] : []),
    closing('reserved connection', async () => await reserved.close()),
    values.closing,
    closing('brokers', async () => await publishers.close()),
    worker,
  ];
  return { worker, services, drainAsked: asked.promise };
}

/** By default, the workers of `longshore start` serve deployments, and others do not. */
function deploymentMode(
  { deployments = 'auto' }: LocalWorkerSettings,
  alone: boolean,
): Exclude<Config['deployments'], 'auto'> {
  if (deployments !== 'auto') return deployments;
  return alone ? 'off' : 'also';
}
