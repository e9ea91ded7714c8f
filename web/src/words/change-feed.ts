import type { Topic } from '../../../src/core/views/change-feed.ts';

/**
 * Queries to refetch when a topic has changed, by the first part of their key. Attempts, events and
 * slots are refetched with their owner, because its version is part of their keys.
 */
const REFETCHED_BY: Record<Topic, readonly string[]> = {
  jobs: [
    'jobs',
    'job',
    'related',
    'batches',
    'batch',
    'batch-jobs',
    'groups',
    'dead-letters',
    'stats',
    'series',
    'workers',
    'schedules',
    'schedule',
  ],
  workers: ['workers', 'definitions', 'schedules', 'scale'],
  definitions: ['definitions'],
  pauses: ['pauses', 'definitions'],
  alerts: ['alerts'],
  bulks: ['bulks', 'bulk'],
  audit: [
    'audit',
    'keys',
    'webhooks',
    'webhook',
    'alert-rules',
    'schedules',
    'schedule',
    'definitions',
    'deployments',
    'deployment',
    'deployment-difference',
    'releases',
    'release-changes',
  ],
};

/** Queries that are expensive for the server. */
const COSTLY = new Set([
  'batches',
  'groups',
  'dead-letters',
  'stats',
  'series',
  'schedules',
  'deployment-difference',
]);
const SOON_MS = 2_000;
const LATER_MS = 10_000;

export function refetchedBy(topics: readonly Topic[]): string[] {
  // A newer server may send unknown topics.
  return [...new Set(topics.flatMap((topic) => REFETCHED_BY[topic] ?? []))];
}

/** Minimum interval between refetches on a busy server. */
export function minIntervalMs(name: string): number {
  return COSTLY.has(name) ? LATER_MS : SOON_MS;
}
