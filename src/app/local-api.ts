import { Publishers } from '../brokers/publishers.ts';
import type { Config } from '../config/config.ts';
import { shownSettings } from '../config/shown.ts';
import { parseUidSetting, rangesOf } from '../core/access/job-uids.ts';
import { dashboardFolder } from './dashboard.ts';
import { localDeployer } from './local-deployments.ts';
import { heartbeatConnections, localController } from './local-controller.ts';
import { localValues } from './values/local-values.ts';
import { localReports } from './local-reports.ts';
import { localSignIn } from './identity/local-sign-in.ts';
import { type HttpDeps, HttpServer } from '../http/server.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { closing, type Service } from '../runtime/service.ts';
import { JobLog } from '../signals/job-log.ts';
import type { Db } from '../store/connection/db.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import { Quotas } from '../enqueue/quotas.ts';
import type { Waker } from '../store/connection/wake.ts';
import { VERSION } from '../version.ts';

interface LocalApi {
  http: HttpServer;
  services: Service[];
}

/** The HTTP API of this process, with the routes of its roles. */
export function localApi(
  db: Db,
  waker: Waker,
  config: Config & { databaseUrl: string },
  log: Log,
  more: Pick<HttpDeps, 'runDue' | 'notReady'> = {},
): LocalApi {
  const { host, port, unservedAfterMs } = config;
  const quotas = new Quotas(db, systemClock, config);
  const jobLog = new JobLog(log, config.logJobs);
  const requires = config.unregistered === 'reject';
  const values = localValues(db, config, log);
  const { large } = values;
  const enqueuer = new Enqueuer(db, waker, systemClock, quotas, jobLog, requires, large);
  const allowedHosts = config.allowedHosts?.split(',') ?? [];
  const trustedProxies = config.trustedProxies?.split(',') ?? [];
  const webhookAllow = config.webhookAllow?.split(',') ?? [];
  const webhookBrokers = new Publishers(config.brokers).names;
  const runnerUids = rangesOf(parseUidSetting(config.runnerUids));
  const served = { db, enqueuer, large, log, host, port, runnerUids, unservedAfterMs };
  const hasMail = config.smtpUrl !== null;
  const reach = { allowedHosts, trustedProxies, webhookAllow, webhookBrokers, hasMail };
  const deps = { ...served, ...reach, limits: config };
  const dashboard = dashboardFolder(log);
  const { environment: name, environmentColor: color } = config;
  const environment = name === null ? null : { name, color };
  const parts = {
    ...deps,
    quotas,
    dashboard,
    version: VERSION,
    settings: shownSettings(config),
    publicUrl: config.publicUrl,
    environment,
  };
  const reserved = heartbeatConnections(db, config, log);
  const remoteWorkers = localController(db, reserved, waker, config, log, large);
  const { collecting, ...deploying } = localDeployer(db, enqueuer, config, log);
  const { services: reporting, ...stored } = localReports(config, log);
  const signIn = localSignIn(config);
  const own = { ...deploying, ...stored, remoteWorkers, reserved, ...(signIn && { signIn }) };
  const http = new HttpServer({ ...parts, ...own, ...more });
  const connections = closing('heartbeat connections', async () => await reserved.close());
  const stores = [values.closing, values.collecting, collecting, ...reporting];
  return { http, services: [connections, remoteWorkers, ...stores, http] };
}
