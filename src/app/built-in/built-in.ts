import type { Publishers } from '../../brokers/publishers.ts';
import type { JobDefinition } from '../../core/definition/define.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Db } from '../../store/connection/db.ts';
import { deliveries, type DeliverySettings } from '../../webhooks/deliveries.ts';
import { batchJob } from './batch-job.ts';

/** The jobs of Longshore itself, which every worker beside the database runs. */
export function builtIn(
  db: Db,
  clock: Clock,
  settings: DeliverySettings,
  publishers: Publishers,
): { definitions: JobDefinition[]; slots: number } {
  const { definitions, slots } = deliveries(db, clock, settings, publishers);
  return { definitions: [...definitions, batchJob(db)], slots };
}
