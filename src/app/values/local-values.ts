import { LargeValues } from '../../large/large-values.ts';
import { valueCollector } from '../../large/value-collector.ts';
import type { Log } from '../../runtime/log.ts';
import { closing, type Service } from '../../runtime/service.ts';
import type { Db } from '../../store/connection/db.ts';
import { lazyStorage } from '../lazy-storage.ts';

export interface ValueSettings {
  artifacts?: string;
  /** 0: large values are off. */
  largeValuesMaxBytes?: number;
}

/** Large params and results. Those of earlier times are read and collected also when they are off. */
export function localValues(
  db: Db,
  { artifacts = './.longshore/artifacts', largeValuesMaxBytes = 0 }: ValueSettings,
  log: Log,
): { large: LargeValues; closing: Service; collecting: Service } {
  const storage = lazyStorage(artifacts);
  return {
    large: new LargeValues(db, storage, largeValuesMaxBytes === 0 ? null : largeValuesMaxBytes),
    closing: closing('storage of large values', async () => storage.close()),
    collecting: valueCollector(db, storage, log),
  };
}
