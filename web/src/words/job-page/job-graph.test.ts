import { describe, expect, it } from 'vitest';
import type { RelatedJob, RelatedJobs } from '../../../../src/core/dependency/related.ts';
import type { JobState } from '../../../../src/core/job/job.ts';
import { madeJob } from '../made.fixture.ts';
import { childrenSummary, childrenTitle, FAILED_SHOWN, jobGraph, NODES_MAX } from './job-graph.ts';

const NONE: RelatedJobs = {
  parents: [],
  followers: [],
  moreFollowers: false,
  spawnedBy: null,
  children: [],
  childrenTotal: 0,
  childrenOpen: 0,
  childrenEnded: { succeeded: 0, failed: 0, cancelled: 0 },
  failedChildren: [],
};
let made = 0;
const one = (status: JobState | null, definitionKey: string | null = 'mail'): RelatedJob => ({
  jobId: `job-${(made += 1)}`,
  definitionKey,
  status,
});
const many = (count: number, status: JobState) => Array.from({ length: count }, () => one(status));
const graphOf = (over: Partial<RelatedJobs>) => jobGraph(madeJob(), { ...NONE, ...over });

describe('jobGraph', () => {
  it('is null without related jobs', () => {
    expect(graphOf({})).toBeNull();
  });

  it('has parents and the spawner before the job, children and followers after it', () => {
    const children = many(2, 'running');
    const graph = graphOf({
      parents: [one('succeeded'), one('failed', null)],
      spawnedBy: one('suspended'),
      children,
      childrenTotal: 2,
      childrenOpen: 2,
      followers: [one('suspended')],
    });
    expect(graph?.before.map(({ title, nodes }) => [title, nodes.length])).toEqual([
      ['Runs after', 2],
      ['Spawned by', 1],
    ]);
    expect(graph?.after.map(({ title, relation }) => [title, relation])).toEqual([
      ['Children: 0 of 2 ended', 'child'],
      ['Followed by', 'after'],
    ]);
    expect(graph?.self).toMatchObject({ definitionKey: 'hello', state: 'queued' });
    expect(graph?.before[0]?.nodes[1]).toMatchObject({ definitionKey: null, state: 'failed' });
  });

  it('calls a batch by its name', () => {
    const graph = graphOf({ spawnedBy: one('suspended', '$batch') });
    expect(graph?.before.map(({ title }) => title)).toEqual(['Job of the batch']);
  });

  it('counts the states of a large group, the failed jobs first and with a node each', () => {
    const followers = [...many(4, 'succeeded'), ...many(5, 'failed'), one('created'), one(null)];
    const [group] = graphOf({ followers, moreFollowers: true })?.after ?? [];
    expect(group?.title).toBe('Followed by more than 11');
    const counts = (group?.nodes ?? []).filter((node) => node.kind === 'count');
    expect(counts.map(({ words }) => words)).toEqual([
      '5 failed',
      '1 held',
      '4 succeeded',
      '1 unknown',
    ]);
    const jobs = group?.nodes.filter(({ kind }) => kind === 'job');
    expect(jobs).toHaveLength(FAILED_SHOWN);
    expect(group?.nodes.slice(1, 1 + FAILED_SHOWN)).toEqual(jobs);
    expect(graphOf({ followers: many(NODES_MAX, 'queued') })?.after[0]?.nodes).toHaveLength(
      NODES_MAX,
    );
  });

  it('counts all children, also those that are not part of the answer', () => {
    const failedChildren = many(3, 'failed');
    const related = {
      ...NONE,
      children: many(200, 'succeeded'),
      childrenTotal: 10_000,
      childrenOpen: 185,
      childrenEnded: { succeeded: 9_812, failed: 3, cancelled: 0 },
      failedChildren,
    };
    expect(childrenSummary(related)).toBe('3 failed · 185 not ended · 9,812 succeeded');
    expect(childrenTitle(related)).toBe('Children: 9,815 of 10,000 ended');
    const nodes = jobGraph(madeJob(), related)?.after[0]?.nodes ?? [];
    const linked = nodes.filter((node) => node.kind === 'job');
    expect(linked.map(({ jobId }) => jobId)).toEqual(failedChildren.map(({ jobId }) => jobId));
    expect(childrenSummary({ ...NONE, children: many(2, 'queued'), childrenTotal: 2 })).toBe('');
  });
});
