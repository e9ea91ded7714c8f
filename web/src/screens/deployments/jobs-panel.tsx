import { Link } from '@tanstack/react-router';
import type { DefinitionJobs, VersionJobs } from '../../../../src/core/deployment/version-jobs.ts';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Rows } from '../../parts/rows.tsx';
import { rateWords } from '../../words/alerts/throughput.ts';

interface Row extends VersionJobs {
  key: string;
  isBefore: boolean;
}

/** What became of the jobs of a deployment, and of those of the version before. */
export function JobsPanel({ jobs }: { jobs: readonly DefinitionJobs[] }) {
  const rows = jobs.flatMap(({ key, now, before }): Row[] => [
    { key, isBefore: false, ...now },
    ...(before ? [{ key, isBefore: true, ...before }] : []),
  ]);
  const worse = jobs.filter((one) => one.worse !== null);
  return (
    <>
      {worse.map(({ key, worse: why }) => (
        <p key={key} className="notice warn" role="status">
          {key} fails more often than before: {why}.
        </p>
      ))}
      <Panel title="Jobs by version" aside="since it was deployed" flush>
        <Rows
          caption="Jobs by version"
          rows={rows}
          keyOf={({ key, version }) => `${key}@${version}`}
          columns={[
            {
              title: 'Definition',
              titled: 'in-head',
              cell: ({ key, isBefore }) =>
                isBefore ? (
                  <span className="soft">{key}</span>
                ) : (
                  <Link to="/definitions/$key" params={{ key }} className="whole-word">
                    {key}
                  </Link>
                ),
            },
            {
              title: 'Version',
              cell: ({ version, isBefore }) => (isBefore ? `${version} (before)` : String(version)),
            },
            count('Waiting', ({ waiting }) => waiting),
            count('Running', ({ running }) => running),
            count('Succeeded', ({ succeeded }) => succeeded),
            count('Failed', ({ failed }) => failed),
            { title: 'Failed attempts', kind: 'number', cell: (row) => <Rate of={row} /> },
          ]}
        />
      </Panel>
    </>
  );
}

function count(title: string, of: (row: Row) => number): Column<Row> {
  return { title, kind: 'number', cell: (row) => of(row).toLocaleString('en') };
}

function Rate({ of: { failureRate, failedAttempts, attempts } }: { of: VersionJobs }) {
  if (failureRate === null) return <span className="soft">–</span>;
  return <span title={`${failedAttempts} of ${attempts}`}>{rateWords(failureRate)}</span>;
}
