import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { Charts } from '../../parts/charts/charts.tsx';
import { FailuresPanel } from '../../parts/failures-panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { Cards } from './cards.tsx';
import { FirstRun, firstRun } from './first-run.tsx';
import { NextSchedules } from './next-schedules.tsx';
import { useOverview } from './use-overview.ts';
import { Verdict } from './verdict.tsx';
import { WorkerList } from './worker-list.tsx';
import { WorkloadTable } from './workload-table.tsx';
import { jobsQuery } from '../../api/queries.ts';
import type { ChartSearch } from '../../words/charts/range.ts';

const route = getRouteApi('/');

export function OverviewScreen() {
  const { data: newest, error } = useQuery(jobsQuery({ limit: 1 }));
  const { data: firstDone } = useQuery(jobsQuery({ status: ['succeeded'], limit: 1 }));
  const { overview, error: missing } = useOverview();
  const seen = firstRun.use();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = useCallback(
    (next: ChartSearch) => void navigate({ to: '/', search: next, resetScroll: false }),
    [navigate],
  );
  if (!newest || !firstDone || !overview) {
    return (
      <Screen title="Overview">
        <Waiting error={error ?? missing} />
      </Screen>
    );
  }
  const isNew = newest.jobs.length === 0 || firstDone.jobs.length === 0;
  return (
    <Screen title="Overview">
      <Verdict overview={overview} />
      {(isNew || seen === 'started') && (
        <FirstRun
          overview={overview}
          started={newest.jobs[0] ?? null}
          done={firstDone.jobs[0] ?? null}
        />
      )}
      <Cards overview={overview} />
      <Charts search={search} onSearch={onSearch} definitions={overview.definitions} />
      <div className="columns">
        <div>
          <FailuresPanel failures={overview.failures.groups} definitions={overview.definitions} />
          <WorkloadTable overview={overview} />
        </div>
        <div>
          <WorkerList overview={overview} />
          <NextSchedules overview={overview} />
        </div>
      </div>
    </Screen>
  );
}
