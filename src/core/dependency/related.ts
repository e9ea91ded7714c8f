import { isTerminal, type JobState } from '../job/job.ts';

/** A job that another one waits for, or that waits for it. */
export interface RelatedJob {
  jobId: string;
  /** Null when the job is deleted. */
  definitionKey: string | null;
  /** Its state now; of a deleted job, how it ended. */
  status: JobState | null;
}

/** The jobs around a job, one step in each direction. */
export interface RelatedJobs {
  /** The jobs that it was enqueued `after`, in that order. */
  parents: RelatedJob[];
  /** The jobs that were enqueued after it, the oldest first. */
  followers: RelatedJob[];
  /** There are more followers than these. */
  moreFollowers: boolean;
  /** The job that has spawned it. */
  spawnedBy: RelatedJob | null;
  /** The first of the jobs that it has spawned. */
  children: RelatedJob[];
  childrenTotal: number;
  /** How many of all children have not ended. */
  childrenOpen: number;
  /** How all children that have ended did so. */
  childrenEnded: Record<EndState, number>;
  /** The first of all children that failed. */
  failedChildren: RelatedJob[];
}

export type EndState = 'succeeded' | 'failed' | 'cancelled';

/** What is known of the children of a job. */
export type KnownChildren = Pick<RelatedJobs, 'children' | 'childrenTotal' | 'childrenOpen'>;

/** The most followers, and the most children, of one answer. */
export const FOLLOWERS_MAX = 200;
/** The most failed children of one answer. */
export const FAILED_CHILDREN_MAX = 20;

/** "It waits for 3 of its 10 children.", for people. */
export function childrenSentence({ childrenTotal, childrenOpen }: KnownChildren): string {
  if (childrenTotal === 1) return 'It waits for its child.';
  return `It waits for ${childrenOpen} of its ${childrenTotal} children.`;
}

/** "2 of 3 parents have ended", for people. */
export function parentsSentence(parents: readonly RelatedJob[]): string {
  const open = parents.filter(({ status }) => status !== null && !isTerminal(status));
  const ended = parents.length - open.length;
  return `${ended} of ${parents.length} parents ${ended === 1 ? 'has' : 'have'} ended.`;
}
