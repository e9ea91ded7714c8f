import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type {
  DeploymentDetail,
  DeploymentView,
  DifferenceView,
  ReleaseView,
} from '../../../src/core/deployment/deployment-view.ts';
import type { ReleaseChangeView } from '../../../src/core/deployment/release-change.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import { isDeploymentOf } from '../words/queues/deployment-words.ts';
import { readList, read } from './call.ts';
import { pollMs } from './connection.ts';
import { useOffered } from './signal-queries.ts';

const LATER_MS = 10_000;
const NUMBER_MAX = 999_999_998;

export const DEPLOYMENTS_PER_PAGE = 50;

/** The newest first; the cursor is the last number of the page before. */
export const deploymentsQuery = (cursor: string | undefined) =>
  queryOptions({
    queryKey: ['deployments', cursor],
    queryFn: readList<DeploymentView>('deployments', '/v1/deployments', {
      before: cursor,
      limit: DEPLOYMENTS_PER_PAGE,
    }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const deploymentQuery = (number: string) =>
  queryOptions({
    queryKey: ['deployment', number],
    queryFn: read<DeploymentDetail>(`/v1/deployments/${encodeURIComponent(number)}`),
    refetchInterval: () => pollMs(LATER_MS),
  });

/** What differs from another deployment; null: from those that new jobs get now. */
export const differenceQuery = (number: number, against: number | null) =>
  queryOptions({
    queryKey: ['deployment-difference', number, against],
    queryFn: read<DifferenceView>(`/v1/deployments/${number}/diff`, {
      against: against ?? undefined,
    }),
    // It may check a thousand waiting jobs.
    refetchInterval: () => pollMs(6 * LATER_MS),
  });

export const releasesQuery = () =>
  queryOptions({
    queryKey: ['releases'],
    queryFn: readList<ReleaseView>('releases', '/v1/releases'),
    refetchInterval: () => pollMs(LATER_MS),
  });

/** What was released within the last hours, the newest first; empty if the server lacks it. */
export function useReleaseChanges(hours: number): readonly ReleaseChangeView[] {
  const offered = useOffered('/v1/releases/changes');
  const { data = NO_CHANGES } = useQuery({
    queryKey: ['release-changes', hours],
    queryFn: readList<ReleaseChangeView>('changes', '/v1/releases/changes', { hours }),
    refetchInterval: () => pollMs(LATER_MS),
    enabled: offered,
  });
  return data;
}

const NO_CHANGES: readonly ReleaseChangeView[] = [];

/** Whether the version of a job is the number of a deployment. Asked only if there are releases. */
export function useIsDeployed(job: JobView): boolean {
  const offered = useOffered('/v1/releases');
  const { data: releases = [] } = useQuery({ ...releasesQuery(), enabled: offered });
  const number = job.definitionVersion;
  const { data: found = [] } = useQuery({
    queryKey: ['deployment-of-version', number],
    // A list, because a single deployment that does not exist is an error.
    queryFn: readList<DeploymentView>('deployments', '/v1/deployments', {
      before: number + 1,
      limit: 1,
    }),
    enabled: releases.length > 0 && number > 0 && number <= NUMBER_MAX,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return found.some((one) => isDeploymentOf(one, job));
}
