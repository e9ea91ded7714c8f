import { describe, expect, it } from 'vitest';
import { changeSince, isSnapshotId, type TopicVersion, snapshotOf, TOPICS } from './change-feed.ts';

const version = (topic: TopicVersion['topic'], name: string, text: string): TopicVersion => ({
  topic,
  name,
  version: text,
});
const QUIET = [
  version('jobs', 'mail', '4'),
  version('jobs', 'report', '7'),
  version('workers', '', 'a'),
];
const before = snapshotOf(QUIET);

describe('the id of a standing', () => {
  it('depends on the versions and not on their order', () => {
    expect(snapshotOf(QUIET.toReversed()).id).toBe(before.id);
    expect(isSnapshotId(before.id)).toBe(true);
    expect(isSnapshotId(snapshotOf([]).id)).toBe(true);
  });

  it('tells versions of several shards apart', () => {
    const split = (...texts: string[]) =>
      snapshotOf(texts.map((text) => version('jobs', 'a', text)));
    expect(split('1', '2').id).not.toBe(split('1', '3').id);
    expect(changeSince(split('1', '2'), split('1', '3'))?.definitionKeys).toEqual(['a']);
  });

  it.each(['', 'x', `${before.id}.`, `${before.id} `, 'F'.repeat(16)])('is not %j', (text) => {
    expect(isSnapshotId(text)).toBe(false);
  });
});

describe('what has changed', () => {
  it.each<[string, TopicVersion[], string[], string[]]>([
    ['nothing at first', [], ['jobs', 'workers'], ['mail', 'report']],
    [
      'jobs of one definition',
      [version('jobs', 'mail', '5'), ...QUIET.slice(1)],
      ['jobs'],
      ['mail'],
    ],
    ['jobs of a new one', [...QUIET, version('jobs', 'new', '1')], ['jobs'], ['new']],
    ['a worker', [...QUIET.slice(0, 2), version('workers', '', 'b')], ['workers'], []],
    ['a bulk and a pause', [...QUIET, ...versionsOf('pauses', 'bulks')], ['pauses', 'bulks'], []],
  ])('%s', (_, versions, topics, definitionKeys) => {
    const now = snapshotOf(versions);
    expect(changeSince(before, now)).toEqual({ id: now.id, topics, definitionKeys });
  });

  it('is nothing while all versions are the same', () => {
    expect(changeSince(before, snapshotOf(QUIET))).toBeNull();
    expect(changeSince(before.id, snapshotOf(QUIET))).toBeNull();
  });

  it('is known by the id alone, but for the definitions', () => {
    const now = snapshotOf([version('jobs', 'mail', '5'), ...QUIET.slice(1)]);
    expect(changeSince(before.id, now)).toEqual({
      id: now.id,
      topics: ['jobs'],
      definitionKeys: null,
    });
  });

  it('is nothing yet for who begins now', () => {
    expect(changeSince(null, before)).toEqual({ id: before.id, topics: [], definitionKeys: [] });
  });

  it('may be anything after an id of another version', () => {
    const change = changeSince('0123456789abcdef', before);
    expect(change).toEqual({ id: before.id, topics: [...TOPICS], definitionKeys: null });
  });
});

function versionsOf(...topics: TopicVersion['topic'][]): TopicVersion[] {
  return topics.map((topic) => version(topic, '', '1'));
}
