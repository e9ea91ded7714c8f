import type { Config } from '../config/config.ts';
import { shownSettings } from '../config/shown.ts';
import { parseUidSetting, rangesOf } from '../core/access/job-uids.ts';
import { dashboardFolder } from './dashboard.ts';
import { type HttpDeps, HttpServer } from '../http/server.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { JobLog } from '../signals/job-log.ts';
import type { Db } from '../store/connection/db.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import { Quotas } from '../enqueue/quotas.ts';
import type { Waker } from '../store/connection/wake.ts';
import { VERSION } from '../version.ts';

/** The HTTP API of this process, with the routes of its roles. */
export function localApi(
  db: Db,
  waker: Waker,
  config: Config,
  log: Log,
  more: Pick<HttpDeps, 'runDue' | 'notReady'> = {},
): HttpServer {
  const { host, port, unhandledAfterMs } = config;
  const quotas = new Quotas(db, systemClock, config);
  const jobLog = new JobLog(log, config.logJobs);
  const enqueuer = new Enqueuer(db, waker, systemClock, null, quotas, jobLog);
  const allowedHosts = config.allowedHosts?.split(',') ?? [];
  const trustedProxies = config.trustedProxies?.split(',') ?? [];
  const webhookAllow = config.webhookAllow?.split(',') ?? [];
  const runnerUids = rangesOf(parseUidSetting(config.runnerUids));
  const served = { db, enqueuer, log, host, port, runnerUids, unhandledAfterMs };
  const deps = { ...served, allowedHosts, trustedProxies, webhookAllow, limits: config };
  const dashboard = dashboardFolder(log);
  const parts = { ...deps, quotas, dashboard, version: VERSION, settings: shownSettings(config) };
  return new HttpServer({ ...parts, ...more });
}
