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
}

/** The most followers of one answer. */
export const FOLLOWERS_MAX = 200;

/** "2 of 3 parents have ended", for people. */
export function parentsSentence(parents: readonly RelatedJob[]): string {
  const open = parents.filter(({ status }) => status !== null && !isTerminal(status));
  const ended = parents.length - open.length;
  return `${ended} of ${parents.length} parents ${ended === 1 ? 'has' : 'have'} ended.`;
}
