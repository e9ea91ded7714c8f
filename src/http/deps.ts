import type { Log } from '../runtime/log.ts';
import type { Db } from '../store/db.ts';
import type { Inbox } from '../store/inbox.ts';
import type { StreamLimits } from './streams.ts';

/** All that the HTTP side needs from the rest. `app.ts` makes it; tests make their own. */
export interface HttpDeps {
  db: Db;
  inbox: Inbox;
  log: Log;
  host: string;
  port: number;
  version: string;
  /** After how long a queued job that nobody has the code for is shown with a warning. */
  unhandledAfterMs?: number;
  /** Where live streams shall differ from the usual: tests are less patient. */
  streams?: Partial<StreamLimits>;
}

/** Whether the process has begun to leave. Probes say so, and load balancers look elsewhere. */
export interface Drain {
  begun: boolean;
}
