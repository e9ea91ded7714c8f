import { hashText } from '../values/hash.ts';

/**
 * The change feed of a tenant: which topics have changed, not their contents.
 *
 * The database returns a version per topic and name, which differs after every change. The id of a
 * snapshot is the hash of all versions. So any process, even a new one, can tell from an id whether
 * its reader has missed changes, and in which topics.
 */
export const TOPICS = [
  'jobs',
  'workers',
  'definitions',
  'pauses',
  'alerts',
  'bulks',
  'audit',
] as const;
export type Topic = (typeof TOPICS)[number];

export interface TopicVersion {
  topic: Topic;
  /** What of the topic: for jobs the definition key. */
  name: string;
  version: string;
}

export interface Snapshot {
  id: string;
  /** For jobs: the version by definition key. */
  jobs: ReadonlyMap<string, string>;
}

export interface ChangeView {
  /** Last-Event-ID or cursor of the next read. */
  id: string;
  topics: Topic[];
  /** The definitions whose jobs have changed; null when unknown, as after a reconnect. */
  definitionKeys: string[] | null;
}

export function snapshotOf(versions: readonly TopicVersion[]): Snapshot {
  const jobs = new Map<string, string>();
  const texts = new Map<Topic, string[]>();
  for (const { topic, name, version } of versions) {
    texts.set(topic, [...(texts.get(topic) ?? []), `${name}=${version}`]);
    if (topic === 'jobs') jobs.set(name, `${jobs.get(name) ?? ''} ${version}`);
  }
  const hashes = TOPICS.map((topic) => hashText((texts.get(topic) ?? []).sort().join('\n')));
  return { id: hashes.join('.'), jobs };
}

/**
 * Also accepts ids of a version with other topics: then a reader gets too many topics once, never
 * too few.
 */
export function isSnapshotId(text: string): boolean {
  return /^[0-9a-f]{16}(?:\.[0-9a-f]{16}){0,19}$/.test(text);
}

/**
 * Null when nothing has changed. `before` is a snapshot, its id, or null for a new reader, which
 * gets the current id without topics.
 */
export function changeSince(before: Snapshot | string | null, now: Snapshot): ChangeView | null {
  if (before === null) return { id: now.id, topics: [], definitionKeys: [] };
  const beforeId = typeof before === 'string' ? before : before.id;
  if (beforeId === now.id) return null;
  const [was, is] = [beforeId.split('.'), now.id.split('.')];
  const topics =
    was.length === is.length ? TOPICS.filter((_, at) => was[at] !== is[at]) : [...TOPICS];
  if (!topics.includes('jobs')) return { id: now.id, topics, definitionKeys: [] };
  const definitionKeys = typeof before === 'string' ? null : movedKeys(before.jobs, now.jobs);
  return { id: now.id, topics, definitionKeys };
}

function movedKeys(was: Snapshot['jobs'], is: Snapshot['jobs']): string[] {
  const keys = new Set([...was.keys(), ...is.keys()]);
  return [...keys].filter((key) => was.get(key) !== is.get(key)).sort();
}
