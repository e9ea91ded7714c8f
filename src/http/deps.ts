import type { UidRange } from '../core/access/machine-users.ts';
import type { RunDueBudget, RunDueSummary } from '../core/queue/run-due.ts';
import type { SettingView } from '../core/views/setting-view.ts';
import type { Log } from '../runtime/log.ts';
import type { Db } from '../store/connection/db.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import type { Quotas } from '../enqueue/quotas.ts';
import type { RequestLimits } from './edge/rate-limits.ts';
import type { StreamLimits } from './streams/streams.ts';

/** All that the HTTP side needs from the rest. `app.ts` makes it; tests make their own. */
export interface HttpDeps {
  db: Db;
  enqueuer: Enqueuer;
  log: Log;
  host: string;
  port: number;
  /** Which users of this machine are jobs; none when absent. */
  runnerUids?: readonly UidRange[];
  version: string;
  /** How it was set up, for those who look after it. */
  settings?: readonly SettingView[];
  /** More names that this server is called by, `*` for any. */
  allowedHosts?: readonly string[];
  /** Networks of proxies whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[];
  /** How many connections there may be; as many as the limit of open files allows when absent. */
  connectionsMax?: number;
  /** How many bytes of large bodies may be held at once; the usual number when absent. */
  bodyRoomBytes?: number;
  /** How long the headers of a request may take to arrive. */
  headersTimeoutMs?: number;
  /** Networks that webhooks may reach although they are not public. */
  webhookAllow?: readonly string[];
  /** How often it may be called; no limits when absent. */
  limits?: RequestLimits;
  /** What one tenant may have; no limits when absent. The enqueuer has its own. */
  quotas?: Quotas;
  /** After how long a queued job that nobody has the code for is shown with a warning. */
  unhandledAfterMs?: number;
  /** Runs what is due within a budget, or until the signal; missing where no job can run. */
  runDue?: (
    budget: RunDueBudget,
    caller: { tenant: string; signal: AbortSignal },
  ) => Promise<RunDueSummary>;
  /** Why this server cannot do its work yet, for `/readyz`; null when it can. */
  notReady?: () => string | null;
  /** Finds, or builds, the folder with the files of the dashboard; missing: there is none. */
  dashboard?: () => Promise<string>;
  /** Where live streams shall differ from the usual: tests are less patient. */
  streams?: Partial<StreamLimits>;
}
