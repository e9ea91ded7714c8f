import { systemClock } from '../../src/runtime/clock.ts';
import { JobIds } from '../../src/store/connection/job-ids.ts';
import { Vault } from '../../src/store/connection/vault.ts';

/** What a `Queryable` of a test has beside `run`. */
export const plainQueryable = () => ({
  vault: new Vault(),
  clock: systemClock,
  ids: new JobIds(systemClock),
});
