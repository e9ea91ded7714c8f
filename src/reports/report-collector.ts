import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { StoredReports } from './stored-reports.ts';

const EVERY_MS = 3_600_000;

/** Deletes reports after their last day. Several servers may do so at once. */
export function reportCollector(reports: StoredReports, log: Log): Service {
  return new Poller({
    name: 'collector of reports',
    log,
    tick: async (signal) => {
      const deleted = await reports.deleteOutdated(signal);
      if (deleted > 0) log.info({ reports: deleted }, 'deleted reports after their last day');
      return EVERY_MS;
    },
  });
}
