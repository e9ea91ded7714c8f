import { Link } from '@tanstack/react-router';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { atLeast } from '../../words/bulk-words.ts';
import { plainText } from '../../words/log-tail.ts';
import { ownersOf, ownerWords } from '../../words/owners.ts';
import type { Overview } from './use-overview.ts';

const SHOWN_MAX = 8;

/** What failed, why, how often, when last, and whose it is: alike ones in one row. */
export function Failures({ overview: { failures, definitions } }: { overview: Overview }) {
  const groups = failures.groups.slice(0, SHOWN_MAX);
  const owners = ownersOf(definitions);
  if (groups.length === 0) return null;
  return (
    <Panel title="What failed in 24 hours" aside={<Link to="/errors">All errors</Link>} flush>
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
              <tr key={group.fingerprint}>
                <td className="number">{atLeast(group.count, group.countIsExact)}</td>
                <td className="nowrap">
                  <Link
                    to="/jobs/$jobId"
                    params={{ jobId: group.jobId }}
                    className="row-link"
                    data-row
                  >
                    {group.definitionKeys.join(', ')}
                  </Link>
                </td>
                <td className="wide">
                  <span className="remark">
                    <code className="code">{group.code}</code> {plainText(group.message)}
                  </span>
                </td>
                <td className="nowrap">
                  <Moment at={group.lastSeen} />
                </td>
                <td className="nowrap">{ownerWords(owners, group.definitionKeys)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
