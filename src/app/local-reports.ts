import type { Config } from '../config/config.ts';
import { reportCollector } from '../reports/report-collector.ts';
import { StoredReports } from '../reports/stored-reports.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { closing, type Service } from '../runtime/service.ts';
import { lazyStorage } from './lazy-storage.ts';

/** Serves and deletes the reports of jobs, if the server knows where they are stored. */
export function localReports(
  { reports: address, reportSecret }: Pick<Config, 'reports' | 'reportSecret'>,
  log: Log,
): { reports?: StoredReports; services: Service[] } {
  if (address === null) return { services: [] };
  const reports = new StoredReports(lazyStorage(address), reportSecret, systemClock);
  const storage = closing('storage of reports', async () => reports.close());
  return { reports, services: [storage, reportCollector(reports, log)] };
}
