import type { Dispatcher } from 'undici';
import type { Publishers } from '../brokers/publishers.ts';
import type { JobDefinition } from '../core/definition/define.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Db } from '../store/connection/db.ts';
import { alertMessageJob, type MailSettings } from './alert-message.ts';
import { deliveryJob } from './delivery-job.ts';
import { Networks } from './networks.ts';
import { TenantShare } from './tenant-share.ts';

/** A send mostly waits, so a worker runs many of them; one tenant gets a third. */
const SLOTS = 60;

export interface DeliverySettings extends MailSettings {
  /** Private networks that webhooks may reach. */
  webhookAllow?: string | null;
}

/** What a worker needs to deliver events to webhooks and alerts to people. */
export function deliveries(
  db: Db,
  clock: Clock,
  { webhookAllow, ...mail }: DeliverySettings,
  publishers: Publishers,
): { definitions: JobDefinition[]; slots: number } {
  const networks = new Networks(webhookAllow?.split(',') ?? []);
  let opened: Promise<Dispatcher> | undefined;
  const dialer = async () => await (opened ??= openDialer(networks));
  const share = new TenantShare(SLOTS / 3, clock);
  return {
    definitions: [
      deliveryJob({ db, clock, dialer, publishers, share }),
      alertMessageJob({ db, clock, dialer, ...mail }),
    ],
    slots: SLOTS,
  };
}

async function openDialer(networks: Networks): Promise<Dispatcher> {
  return (await import('./dialer.ts')).guardedDialer(networks);
}
