import type { Topic } from '../../../src/core/views/change-feed.ts';

/**
 * What is asked again when a topic has changed, by the first word of a query's key. Attempts, events
 * and slots are asked again with what they belong to, as their keys tell.
 */
const RENEWED_BY: Record<Topic, readonly string[]> = {
  jobs: ['jobs', 'job', 'groups', 'dead-letters', 'stats', 'workers', 'schedules', 'schedule'],
  workers: ['workers', 'definitions', 'schedules'],
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
  ],
};

/** Those that the server has to count or look up in many places. */
const COSTLY = new Set(['groups', 'dead-letters', 'stats', 'schedules']);
const SOON_MS = 2_000;
const LATER_MS = 10_000;

export function renewedBy(topics: readonly Topic[]): string[] {
  // A newer server may have topics that nobody here has heard of.
  return [...new Set(topics.flatMap((topic) => RENEWED_BY[topic] ?? []))];
}

/** Something changes every second on a busy server; nothing is asked for more often than this. */
export function restMsOf(name: string): number {
  return COSTLY.has(name) ? LATER_MS : SOON_MS;
}
