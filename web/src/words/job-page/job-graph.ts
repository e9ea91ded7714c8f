import { BATCH_KEY } from '../../../../src/core/batch/batch.ts';
import type { RelatedJob, RelatedJobs } from '../../../../src/core/dependency/related.ts';
import { JOB_STATES, type JobState, type JobView } from '../../../../src/core/job/job.ts';

/** A job of the graph, or the number of jobs in one state. */
export type GraphNode =
  | { kind: 'job'; jobId: string; definitionKey: string | null; state: JobState | null }
  | { kind: 'count'; state: JobState | 'open' | null; words: string };

/** Jobs that are related in the same way. */
export interface GraphGroup {
  title: string;
  /** `after`: one runs after the other; `child`: one has spawned the other. */
  relation: 'after' | 'child';
  nodes: GraphNode[];
}

/** The jobs around a job: those before it and those after it. */
export interface JobGraph {
  self: GraphNode & { kind: 'job' };
  before: GraphGroup[];
  after: GraphGroup[];
}

/** A larger group is drawn as one node per state. */
export const NODES_MAX = 5;
/** Of such a group, the failed jobs that have a node of their own. */
export const FAILED_SHOWN = 3;

/** Null if there are no related jobs. */
export function jobGraph(job: JobView, related: RelatedJobs): JobGraph | null {
  const { parents, followers, spawnedBy } = related;
  const before = [
    group('Runs after', 'after', parents),
    group(spawnerTitle(spawnedBy), 'child', spawnedBy === null ? [] : [spawnedBy]),
  ];
  const after = [
    childrenGroup(related),
    group(
      related.moreFollowers ? `Followed by more than ${followers.length}` : 'Followed by',
      'after',
      followers,
    ),
  ];
  const { jobId, definitionKey, status } = job;
  const graph: JobGraph = {
    self: { kind: 'job', jobId, definitionKey, state: status },
    before: before.filter(({ nodes }) => nodes.length > 0),
    after: after.filter(({ nodes }) => nodes.length > 0),
  };
  return graph.before.length + graph.after.length === 0 ? null : graph;
}

/** A batch does not spawn its jobs: a caller adds them. */
export function spawnerTitle(spawnedBy: RelatedJob | null): string {
  return spawnedBy?.definitionKey === BATCH_KEY ? 'Job of the batch' : 'Spawned by';
}

function group(
  title: string,
  relation: GraphGroup['relation'],
  jobs: readonly RelatedJob[],
): GraphGroup {
  if (jobs.length <= NODES_MAX) return { title, relation, nodes: jobs.map(nodeOf) };
  const failed = jobs.filter(({ status }) => status === 'failed');
  return { title, relation, nodes: withFailed(countsOf(jobs), failed) };
}

function childrenGroup(related: RelatedJobs): GraphGroup {
  const { children, childrenTotal, childrenOpen, childrenEnded, failedChildren } = related;
  const title = childrenTitle(related);
  if (childrenTotal <= children.length) return group(title, 'child', children);
  const counts: Count[] = [
    ['failed', childrenEnded.failed],
    ['cancelled', childrenEnded.cancelled],
    ['open', childrenOpen],
    ['succeeded', childrenEnded.succeeded],
  ];
  return { title, relation: 'child', nodes: withFailed(counts, failedChildren) };
}

/** "Children: 9 of 12 ended". */
export function childrenTitle({ childrenTotal, childrenOpen }: RelatedJobs): string {
  return `Children: ${amount(childrenTotal - childrenOpen)} of ${amount(childrenTotal)} ended`;
}

/** "9,812 succeeded · 3 failed", of all children; empty if each of them has its own node. */
export function childrenSummary(related: RelatedJobs): string {
  return childrenGroup(related)
    .nodes.filter((node) => node.kind === 'count')
    .map(({ words }) => words)
    .join(' · ');
}

type Count = readonly [state: JobState | 'open' | null, number: number];

/** What failed is first; then what has not ended. */
const ORDER: readonly (JobState | null)[] = [
  'failed',
  'cancelled',
  ...JOB_STATES.filter((one) => one !== 'failed' && one !== 'cancelled' && one !== 'succeeded'),
  'succeeded',
  null,
];

function countsOf(jobs: readonly RelatedJob[]): Count[] {
  return ORDER.map((state) => [state, jobs.filter(({ status }) => status === state).length]);
}

/** The node of a number, and below that of the failed ones the first of these. */
function withFailed(counts: readonly Count[], failed: readonly RelatedJob[]): GraphNode[] {
  return counts
    .filter(([, number]) => number > 0)
    .flatMap(([state, number]): GraphNode[] => [
      { kind: 'count', state, words: `${amount(number)} ${stateWord(state)}` },
      ...(state === 'failed' ? failed.slice(0, FAILED_SHOWN).map(nodeOf) : []),
    ]);
}

function stateWord(state: Count[0]): string {
  if (state === null) return 'unknown';
  if (state === 'open') return 'not ended';
  return state === 'created' ? 'held' : state;
}

function nodeOf({ jobId, definitionKey, status }: RelatedJob): GraphNode {
  return { kind: 'job', jobId, definitionKey, state: status };
}

function amount(number: number): string {
  return number.toLocaleString('en');
}
