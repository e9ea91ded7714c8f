import { type SourcePlan, sourceOf } from '../../brokers/source-plan.ts';
import type { Config } from '../../config/config.ts';
import { Enqueuer } from '../../enqueue/enqueuer.ts';
import { Quotas } from '../../enqueue/quotas.ts';
import { Ingester } from '../../ingest/ingester.ts';
import type { Mapping } from '../../ingest/read-message.ts';
import { IngestMetrics } from '../../metrics/ingest-metrics.ts';
import { MetricsServer } from '../../metrics/metrics-server.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import { JobLog } from '../../signals/job-log.ts';
import { loadTracing } from '../../signals/load-tracing.ts';
import { tenantExists } from '../../store/access/tenants.ts';
import type { App } from '../app.ts';
import { assemble, type Base } from '../assemble.ts';

export interface IngestPlan extends Mapping {
  from: SourcePlan;
  batchMax: number;
}

/** Starts a process that makes jobs from the messages of a broker, in the database of the settings. */
export async function startIngest(
  config: Config,
  plan: IngestPlan,
  log: Log,
  signal?: AbortSignal,
): Promise<App> {
  await loadTracing(config.tracing);
  const options = { ownCluster: false, waits: true, signal };
  const app = await assemble(config, options, log, (base) => compose(base, plan, log));
  const summary = {
    database: app.database,
    address: null,
    definitions: [],
    problems: [],
    slots: null,
  };
  return { summary, stop: app.stop };
}

function compose({ db, waker, config }: Base, plan: IngestPlan, log: Log) {
  const quotas = new Quotas(db, systemClock, config);
  const jobLog = new JobLog(log, config.logJobs);
  const requires = config.unregistered === 'reject';
  const enqueuer = new Enqueuer(db, waker, systemClock, quotas, jobLog, requires);
  const metrics = new IngestMetrics(plan.source);
  const { metricsHost: host, metricsPort: port } = config;
  const text = async () => await metrics.text();
  const ingester = new Ingester({
    source: sourceOf(plan.from),
    mapping: plan,
    batchMax: plan.batchMax,
    enqueuer,
    newRequestId: () => db.ids.next(0),
    metrics,
    log,
  });
  const tenant = {
    name: 'tenant',
    start: async () => {
      if (await tenantExists(db, plan.tenant)) return;
      throw new StartRefusal('configuration', `there is no tenant ${plan.tenant}`);
    },
    stop: async () => {},
  };
  return {
    services: [
      ...(port === null ? [] : [new MetricsServer({ host, port, text, log })]),
      tenant,
      ingester,
    ],
  };
}
