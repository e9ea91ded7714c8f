import type { UidRange } from '../core/access/machine-users.ts';
import type { RunDueBudget, RunDueSummary } from '../core/queue/run-due.ts';
import type { SettingView } from '../core/views/setting-view.ts';
import type { Log } from '../runtime/log.ts';
import type { Db } from '../store/connection/db.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import type { Quotas } from '../enqueue/quotas.ts';
import type { RequestLimits } from './edge/rate-limits.ts';
import type { StreamLimits } from './streams/streams.ts';

/** Dependencies of the HTTP server; `app.ts` provides them, tests provide their own. */
export interface HttpDeps {
  db: Db;
  enqueuer: Enqueuer;
  log: Log;
  host: string;
  port: number;
  /** User ids of job processes on this machine. */
  runnerUids?: readonly UidRange[];
  version: string;
  /** Settings to show to administrators. */
  settings?: readonly SettingView[];
  /** More accepted Host names, `*` for any. */
  allowedHosts?: readonly string[];
  /** Networks of proxies whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[];
  /** Maximum number of connections; default by the limit of open files. */
  connectionsMax?: number;
  /** Maximum number of bytes of large bodies in memory. */
  bodyRoomBytes?: number;
  /** Timeout for request headers. */
  headersTimeoutMs?: number;
  /** Non-public networks that webhooks may reach. */
  webhookAllow?: readonly string[];
  /** Rate limits; none by default. */
  limits?: RequestLimits;
  /** Quotas per tenant; none by default. The enqueuer has its own. */
  quotas?: Quotas;
  /** Age at which a queued job without a worker gets a warning. */
  unhandledAfterMs?: number;
  /** Runs due jobs within a budget; absent in a process without a worker. */
  runDue?: (
    budget: RunDueBudget,
    caller: { tenant: string; signal: AbortSignal },
  ) => Promise<RunDueSummary>;
  /** Why this server is not ready, for `/readyz`; null if it is. */
  notReady?: () => string | null;
  /** Finds or builds the files of the dashboard; absent if there is none. */
  dashboard?: () => Promise<string>;
  /** Overrides of stream limits, for tests. */
  streams?: Partial<StreamLimits>;
}
