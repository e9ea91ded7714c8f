import { Link } from '@tanstack/react-router';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { failureGroups } from '../../words/failure-groups.ts';
import { plainText } from '../../words/log-tail.ts';
import type { Overview } from './use-overview.ts';

const SHOWN_MAX = 8;

/** What failed, why, how often, when last, and whose it is: alike ones in one row. */
export function Failures({ overview: { failed } }: { overview: Overview }) {
  const groups = failureGroups(failed.jobs).slice(0, SHOWN_MAX);
  if (groups.length === 0) return null;
  const scanned = failed.nextCursor === null ? 'of 24 hours' : `the newest ${failed.jobs.length}`;
  return (
    <Panel title="What failed" aside={`${scanned}, alike ones together`} flush>
      <div className="scroll">
        <table className="rows">
          <caption className="visually-hidden">Kinds of failures, the most frequent first</caption>
          <thead>
            <tr>
              <th scope="col" className="number">
                Times
              </th>
              <th scope="col">Definition</th>
              <th scope="col">Why</th>
              <th scope="col">Last</th>
              <th scope="col">Owner</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.jobId}>
                <td className="number">{group.count}</td>
                <td className="nowrap">
                  <Link
                    to="/jobs/$jobId"
                    params={{ jobId: group.jobId }}
                    className="row-link"
                    data-row
                  >
                    {group.definitionKey}
                  </Link>
                </td>
                <td className="wide">
                  <span className="remark">
                    <code className="code">{group.code}</code> {plainText(group.message)}
                  </span>
                </td>
                <td className="nowrap">
                  <Moment at={group.lastAt} />
                </td>
                <td className="nowrap">{group.owner ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
