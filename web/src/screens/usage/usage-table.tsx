import { Link } from '@tanstack/react-router';
import type { UsageRow, UsageSums, UsageView } from '../../../../src/core/usage/usage.ts';
import { Rows } from '../../parts/rows.tsx';
import { amountWords, cpuWords, memoryWords } from '../../words/usage/usage-words.ts';

/** What each definition used, the most first, and the sum. */
export function UsageTable({ usage, isOfTenants }: { usage: UsageView; isOfTenants: boolean }) {
  const rows = usage.rows.toSorted(
    (a, b) => (b.cpuSeconds ?? 0) - (a.cpuSeconds ?? 0) || b.runSeconds - a.runSeconds,
  );
  const total: UsageRow = { ...usage.total, day: null, tenant: null, definitionKey: null };
  const sum = (title: string, of: (sums: UsageSums) => string) => ({
    title,
    kind: 'number' as const,
    cell: (row: UsageRow) => of(row),
  });
  return (
    <Rows
      caption="Usage by definition"
      rows={[...rows, total]}
      keyOf={({ tenant, definitionKey }) => `${tenant} ${definitionKey}`}
      columns={[
        {
          title: 'Definition',
          titled: 'in-head',
          cell: ({ definitionKey: key }) =>
            key === null ? (
              <strong>Total</strong>
            ) : (
              <Link to="/definitions/$key" params={{ key }} className="row-link">
                {key}
              </Link>
            ),
        },
        isOfTenants && { title: 'Tenant', kind: 'short', cell: ({ tenant }) => tenant ?? '' },
        sum('CPU time', cpuWords),
        sum('Run time', ({ runSeconds }) => amountWords('runSeconds', runSeconds)),
        sum('Peak memory', ({ peakRssBytes }) => memoryWords(peakRssBytes)),
        sum('Jobs ended', ({ jobs }) => amountWords('jobs', jobs)),
        sum('Attempts', ({ attempts }) => amountWords('jobs', attempts)),
      ]}
    />
  );
}
