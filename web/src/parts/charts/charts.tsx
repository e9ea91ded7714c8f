import { lazy, Suspense, useCallback, useMemo, useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { useReleaseChanges } from '../../api/deployment-queries.ts';
import { useSeries } from '../../api/signal-queries.ts';
import { now } from '../../runtime/clock.ts';
import { deploysIn, deployWords } from '../../words/alerts/deploys.ts';
import { type ChartSearch, rangeWords, releaseHours, zoomed } from '../../words/charts/range.ts';
import { RangePicker } from './range-picker.tsx';
import { SeriesTable } from './series-table.tsx';

/** The charts are a separate file; if it fails to load, the table is shown. */
const ChartGrid = lazy(async () => {
  try {
    return { default: (await import('./chart-grid.tsx')).ChartGrid };
  } catch {
    return { default: SeriesTable };
  }
});

const DEPLOYS_SHOWN = 3;

/** Charts of one definition, or of all, with their range. */
export function Charts({
  search,
  onSearch,
  definitions,
  definitionKey = null,
}: {
  search: ChartSearch;
  /** Must be memoized. */
  onSearch: (search: ChartSearch) => void;
  definitions: readonly PublishedDefinition[];
  definitionKey?: string | null;
}) {
  const { series, error } = useSeries(search, definitionKey);
  const changes = useReleaseChanges(releaseHours(search, now()));
  const [asTable, setAsTable] = useState(false);
  const deploys = useMemo(() => {
    if (!series) return [];
    if (definitionKey === null) return deploysIn(series, definitions, changes);
    const own = definitions.filter(({ key }) => key === definitionKey);
    return deploysIn(
      series,
      own,
      changes.filter((change) => change.definitions.includes(definitionKey)),
    );
  }, [series, definitions, changes, definitionKey]);
  const onZoom = useCallback(
    (fromMs: number, toMs: number) => onSearch(zoomed(fromMs, toMs, now())),
    [onSearch],
  );
  const during = rangeWords(search);
  return (
    <section className="chart-section" aria-label="Charts">
      <div className="chart-bar">
        <RangePicker search={search} onChange={onSearch} />
        <span className="soft chart-hint">Drag in a chart to zoom in.</span>
        <button type="button" className="small" onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Show charts' : 'Show table'}
        </button>
      </div>
      {error !== null && <p className="bad-text">{error.message}</p>}
      {series && asTable && <SeriesTable series={series} />}
      {series && !asTable && (
        <Suspense fallback={<div className="charts-wait" />}>
          <ChartGrid series={series} deploys={deploys} during={during} onZoom={onZoom} />
        </Suspense>
      )}
      {!series && error === null && <div className="charts-wait" />}
      {series && deploys.length > 0 && (
        <p className="deploys">
          <span className="deploy">New code:</span>{' '}
          {deploys
            .slice(-DEPLOYS_SHOWN)
            .map((deploy) => deployWords(deploy, series.stepMs))
            .join(' · ')}
        </p>
      )}
    </section>
  );
}
