import { Link } from '@tanstack/react-router';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import { BulkButtons } from '../../parts/bulk/bulk-buttons.tsx';
import { FailureText } from '../../parts/failure-text.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RunbookLink } from '../../parts/runbook-link.tsx';
import { atLeast } from '../../words/jobs/bulk-words.ts';
import { type MatrixRow, shadeOf } from '../../words/alerts/matrix.ts';
import { ownersOf, ownerWords, runbooksOf } from '../../../../src/core/definition/owners.ts';
import { partWords, type TimePart, type WindowName } from '../../words/alerts/window.ts';
import { bulkOf, type FailuresSearch } from './failures-search.ts';

const SHOWN_MAX = 50;

/** Dead letters by definition, error and time; each cell links to its jobs. */
export function FailureMatrix({
  rows,
  window,
  parts,
  search,
  definitions,
  complete,
  from,
}: {
  rows: readonly MatrixRow[];
  /** Null: all times, without columns. */
  window: WindowName | null;
  parts: readonly TimePart[];
  search: FailuresSearch;
  definitions: readonly PublishedDefinition[];
  complete: boolean;
  /** Start of the window; null for all times. */
  from: string | null;
}) {
  const owners = ownersOf(definitions);
  const runbooks = runbooksOf(definitions);
  const most = Math.max(0, ...rows.flatMap(({ counts }) => counts));
  const shown = rows.slice(0, SHOWN_MAX);
  const isAll = complete && rows.length <= SHOWN_MAX;
  const note = isAll ? 'one row per error' : 'most frequent errors';
  return (
    <Panel title="Definition, error, time" aside={note} flush>
      <div className="scroll">
        <table className="rows stacks matrix">
          <caption className="visually-hidden">Failures by definition, error and time</caption>
          <thead>
            <tr>
              <th scope="col">Definition</th>
              <th scope="col">Error</th>
              {window !== null &&
                parts.map((part) => (
                  <th key={part.from} scope="col" className="number part">
                    {partWords(window, part)}
                  </th>
                ))}
              <th scope="col" className="number">
                Total
              </th>
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => {
              const { definitionKey, fingerprint } = row;
              const whole = { ...search, definitionKey, fingerprint };
              for (const name of ['from', 'to', 'cursor'] as const) delete whole[name];
              return (
                <tr key={`${definitionKey} ${fingerprint}`}>
                  <td className="nowrap">
                    <strong>{definitionKey}</strong>
                    <span className="summary">{ownerWords(owners, [definitionKey])}</span>
                    <RunbookLink url={runbooks.get(definitionKey)} />
                  </td>
                  <td className="wide">
                    <Link to="/dead-letters" search={whole} data-row className="remark">
                      <FailureText {...row} />
                    </Link>
                  </td>
                  {row.counts.map((count, at) => (
                    <Cell key={at} count={count} most={most} search={{ ...whole, ...parts[at] }} />
                  ))}
                  <td className="number nowrap" data-title="Total">
                    <Link to="/dead-letters" search={whole}>
                      {atLeast(row.count, row.countIsExact)}
                    </Link>
                  </td>
                  <td>
                    <div className="row-actions">
                      {/*
                       * A row counts the whole window; while one part is selected, only the buttons
                       * above apply.
                       */}
                      {search.from === undefined && (
                        <BulkButtons
                          short
                          actions={['retry', 'delete']}
                          filter={bulkOf(whole, from)}
                          what={`${row.code} of ${definitionKey}`}
                        />
                      )}
                    </div>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Cell({ count, most, search }: { count: number; most: number; search: FailuresSearch }) {
  if (count === 0) return <td className="number soft part">·</td>;
  return (
    <td className={`number part heat heat-${shadeOf(count, most)}`}>
      <Link to="/dead-letters" search={search}>
        {count.toLocaleString('en')}
      </Link>
    </td>
  );
}
