import type { JobView } from '../../../src/core/job.ts';

/** Failures that look alike: "2,000 failures" are mostly three. */
export interface FailureGroup {
  definitionKey: string;
  owner: string | null;
  code: string;
  message: string;
  count: number;
  /** The newest job of the group, to look at. */
  jobId: string;
  lastAt: string;
}

export function failureGroups(jobs: readonly JobView[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const job of jobs) {
    const { code = 'UNKNOWN', message = '' } = job.error ?? {};
    const key = `${job.definitionKey}\n${code}\n${shape(message)}`;
    const lastAt = job.finishedAt ?? job.updatedAt;
    const group = groups.get(key);
    const newest = !group || group.lastAt < lastAt;
    groups.set(key, {
      definitionKey: job.definitionKey,
      owner: job.owner,
      code,
      count: (group?.count ?? 0) + 1,
      message: newest ? message : group.message,
      jobId: newest ? job.jobId : group.jobId,
      lastAt: newest ? lastAt : group.lastAt,
    });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.lastAt < b.lastAt ? 1 : -1));
}

/** Numbers, ids and what stands in quotes differ from job to job and say little about the cause. */
function shape(message: string): string {
  return message
    .replaceAll(/["'“][^"'”]*["'”]/g, '…')
    .replaceAll(/\b[0-9a-f]{8,}(-[0-9a-f]+)*\b/gi, '#')
    .replaceAll(/\d+/g, '#');
}
