import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { deadLettersQuery, groupsQuery } from '../../api/failure-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useMay } from '../../api/use-may.ts';
import { BulkButtons } from '../../parts/bulk/bulk-buttons.tsx';
import { BulkResult } from '../../parts/bulk/bulk-result.tsx';
import { ExportMenu } from '../../parts/search/export-menu.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { SelectionBar } from '../../parts/search/selection-bar.tsx';
import { useSelection } from '../../parts/search/use-selection.ts';
import { ViewsMenu } from '../../parts/search/views-menu.tsx';
import { matrixRows } from '../../words/alerts/matrix.ts';
import { NO_SELECTION } from '../../words/search/selection.ts';
import { JobTable } from '../jobs/job-table.tsx';
import { FailureFilters } from './failure-filters.tsx';
import { FailureMatrix } from './failure-matrix.tsx';
import { NoLetters } from './no-letters.tsx';
import {
  bulkOf,
  exportOf,
  groupsAsked,
  lettersAsked,
  viewQuery,
  WINDOW_DEFAULT,
} from './failures-search.ts';

const route = getRouteApi('/dead-letters');

/** Jobs that failed for good, by definition, error and time, with bulk actions. */
export function DeadLettersScreen() {
  const search = route.useSearch();
  const { data: found, error } = useQuery(groupsQuery(groupsAsked(search)));
  const { data: page } = useQuery(deadLettersQuery(lettersAsked(search)));
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const [selected, onSelect] = useSelection(search);
  const may = useMay('jobs:write');
  if (!found || !page) {
    return (
      <Screen title="Dead letters">
        <Waiting error={error} />
      </Screen>
    );
  }
  const { window: name = WINDOW_DEFAULT } = search;
  const window = name === 'all' ? null : name;
  const { fingerprint } = search;
  const rows = matrixRows(found.groups, fingerprint);
  return (
    <Screen
      title="Dead letters"
      actions={
        <>
          <ViewsMenu screen="dead-letters" query={viewQuery(search)} />
          <ExportMenu filter={() => exportOf(search, found.from)} />
          {page.jobs.length > 0 && (
            <BulkButtons
              actions={['retry', 'delete']}
              filter={bulkOf(search, found.from)}
              what="all matching dead letters"
            />
          )}
        </>
      }
    >
      <BulkResult />
      <p className="soft under-title">Jobs that failed for good. Retry or delete them.</p>
      <FailureFilters
        key={search.q}
        search={search}
        error={found.groups.find((group) => group.fingerprint === fingerprint)}
      />
      {rows.length > 0 && (
        <FailureMatrix
          rows={rows}
          window={window}
          parts={found.parts}
          from={found.from}
          search={search}
          definitions={definitions}
          complete={found.complete || fingerprint !== undefined}
        />
      )}
      {page.jobs.length === 0 ? (
        <NoLetters search={search} page={page} />
      ) : (
        <div className="below">
          <SelectionBar
            ids={selected.ids}
            jobs={page.jobs}
            actions={['retry', 'delete']}
            onClear={() => onSelect(NO_SELECTION)}
          />
          <Panel title="Jobs" aside="latest failure first" flush>
            <JobTable
              jobs={page.jobs}
              caption="Dead letters"
              ended
              {...(may && { selected, onSelect })}
            />
          </Panel>
          <Pages to="/dead-letters" search={search} nextCursor={page.nextCursor} />
        </div>
      )}
    </Screen>
  );
}
