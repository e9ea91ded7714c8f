import type { JobDefinition } from '../core/definition/define.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Db } from '../store/connection/db.ts';
import { deliveryJob } from './delivery-job.ts';
import { guardedDialer } from './dialer.ts';
import { Networks } from './networks.ts';
import { TenantShare } from './tenant-share.ts';

/** A send mostly waits, so a worker runs many of them; one tenant gets a third. */
const SLOTS = 60;

/** What a worker needs to deliver. `allowed` are private networks that webhooks may reach. */
export function deliveries(
  db: Db,
  clock: Clock,
  allowed: readonly string[],
): { definitions: JobDefinition[]; slots: number } {
  const dialer = guardedDialer(new Networks(allowed));
  return {
    definitions: [deliveryJob({ db, clock, dialer, share: new TenantShare(SLOTS / 3) })],
    slots: SLOTS,
  };
}
