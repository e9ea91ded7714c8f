import type { Log } from '../runtime/log.ts';
import type { Db } from '../store/db.ts';
import type { Inbox } from '../store/inbox.ts';

/** All that the HTTP side needs from the rest. `app.ts` makes it; tests make their own. */
export interface HttpDeps {
  db: Db;
  inbox: Inbox;
  log: Log;
  host: string;
  port: number;
  version: string;
}

/** Whether the process has begun to leave. Probes say so, and load balancers look elsewhere. */
export interface Drain {
  begun: boolean;
}
