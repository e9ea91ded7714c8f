import { hashText } from '../values/hash.ts';

/**
 * What has changed for a tenant, told by topics: not what it is now, which is for its readers to ask,
 * and only if they look at it.
 *
 * The database is asked for *marks*, each of which is another one after every change of what it stands
 * for. All marks together are a standing, and the id of a standing is made of nothing else. So any
 * process, also one that was started a moment ago, can tell from an id whether, and in which topics,
 * its reader has missed something.
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
  /** What of the topic it stands for: of jobs the key of their definition. */
  name: string;
  version: string;
}

export interface Snapshot {
  id: string;
  /** Of jobs, by the key of their definition. */
  jobs: ReadonlyMap<string, string>;
}

export interface ChangeView {
  /** As Last-Event-ID, or as a cursor, it leads on after this change. */
  id: string;
  topics: Topic[];
  /** Whose jobs have moved; null when that is no longer known, as after a break. */
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

/** Also those of a version with other topics: then a reader is told too much once, never too little. */
export function isSnapshotId(text: string): boolean {
  return /^[0-9a-f]{16}(?:\.[0-9a-f]{16}){0,19}$/.test(text);
}

/**
 * Null when nothing has changed. Before is a standing, or only the id of one, or null for a reader that
 * begins now: it is told where it stands, and that nothing has changed yet.
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
