import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useCallback } from 'react';
import { queryText } from '../../api/call.ts';
import { useMay } from '../../api/use-may.ts';
import { usageAsked, usageQuery } from '../../api/usage-queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { tenant } from '../../runtime/tenant.ts';
import { apiUrl } from '../../runtime/urls.ts';
import {
  draggedDays,
  type Measure,
  MEASURE_DEFAULT,
  MEASURES,
  usageRangeWords,
  type UsageSearch,
} from '../../words/usage/usage-range.ts';
import { amountWords, CPU_UNKNOWN, isCpuUnknown } from '../../words/usage/usage-words.ts';
import { BudgetsPanel } from './budgets-panel.tsx';
import { UsageRangePicker } from './usage-range-picker.tsx';
import { UsageTable } from './usage-table.tsx';

/** A separate file; if it fails to load, the table is still there. */
const UsageChart = lazy(async () => {
  try {
    return { default: (await import('./usage-chart.tsx')).UsageChart };
  } catch {
    return { default: () => <p className="soft none-yet">The chart could not be loaded.</p> };
  }
});

const route = getRouteApi('/usage');

/** What jobs used, by definition and day, and budgets. */
export function UsageScreen() {
  const asked = route.useSearch();
  const navigate = route.useNavigate();
  // Who acts for one tenant sees that one.
  const mayAll = useMay('admin', { ofDefaultTenant: true }) && tenant === null;
  const { tenants: _all, ...own } = asked;
  const search: UsageSearch = mayAll ? asked : own;
  const isOfTenants = search.tenants === 'all';
  const change = useCallback(
    (next: UsageSearch) => void navigate({ to: '/usage', search: next, resetScroll: false }),
    [navigate],
  );
  const { data: byDay, error } = useQuery(usageQuery(search, ['day']));
  const groups = isOfTenants ? (['tenant', 'definition'] as const) : (['definition'] as const);
  const { data: byDefinition } = useQuery(usageQuery(search, groups));
  const measure = search.measure ?? MEASURE_DEFAULT;
  const during = usageRangeWords(search);
  const { range: _range, from: _from, to: _to, ...rest } = asked;
  const kept = JSON.stringify(rest);
  const onZoom = useCallback(
    (fromMs: number, toMs: number) =>
      change({ ...(JSON.parse(kept) as UsageSearch), ...draggedDays(fromMs, toMs) }),
    [change, kept],
  );
  const csv = {
    ...usageAsked(search, isOfTenants ? ['day', 'tenant', 'definition'] : ['day', 'definition']),
    format: 'csv',
    tenant: tenant ?? undefined,
  };
  return (
    <Screen
      title="Usage"
      actions={
        <a className="button" href={apiUrl('/v1/usage') + queryText(csv)} download="usage.csv">
          Download CSV
        </a>
      }
    >
      {search.definition !== undefined && (
        <p className="meta">
          <span>
            Only{' '}
            <Link to="/definitions/$key" params={{ key: search.definition }}>
              {search.definition}
            </Link>
          </span>
          <Link to="/usage" search={{ ...asked, definition: undefined }}>
            All definitions
          </Link>
        </p>
      )}
      <div className="chart-bar">
        <UsageRangePicker search={asked} onChange={(chosen) => change({ ...rest, ...chosen })} />
        <MeasurePicker chosen={measure} onChange={(next) => change({ ...asked, measure: next })} />
        {mayAll && (
          <label className="check">
            <input
              type="checkbox"
              checked={isOfTenants}
              onChange={({ target }) => {
                const { tenants: _tenants, ...mine } = asked;
                change(target.checked ? { ...mine, tenants: 'all' } : mine);
              }}
            />
            All tenants
          </label>
        )}
        <span className="soft chart-hint">Days are in UTC. Drag in the chart to zoom in.</span>
      </div>
      {byDay === undefined || byDefinition === undefined ? (
        <Waiting error={error} />
      ) : byDay.rows.length === 0 ? (
        <Empty title={`No job ended: ${during}.`} />
      ) : (
        <>
          <div className="usage-chart charts">
            <Panel
              title={`${MEASURES[measure]} per day`}
              aside={
                <span className="legend line-usage">
                  {amountWords(measure, byDay.total[measure])}
                </span>
              }
            >
              <Suspense fallback={<div className="chart" />}>
                <UsageChart usage={byDay} measure={measure} during={during} onZoom={onZoom} />
              </Suspense>
            </Panel>
          </div>
          <div className="below">
            <Panel title="By definition" flush>
              <UsageTable usage={byDefinition} isOfTenants={isOfTenants} />
            </Panel>
            {byDefinition.rows.some(isCpuUnknown) && <p className="soft pad">{CPU_UNKNOWN}</p>}
          </div>
        </>
      )}
      <BudgetsPanel definitionKey={search.definition} />
    </Screen>
  );
}

function MeasurePicker({
  chosen,
  onChange,
}: {
  chosen: Measure;
  onChange: (measure: Measure) => void;
}) {
  return (
    <div className="ranges" role="group" aria-label="Measure">
      {(Object.keys(MEASURES) as Measure[]).map((measure) => (
        <button
          key={measure}
          type="button"
          className="small"
          aria-pressed={measure === chosen}
          onClick={() => onChange(measure)}
        >
          {MEASURES[measure]}
        </button>
      ))}
    </div>
  );
}
