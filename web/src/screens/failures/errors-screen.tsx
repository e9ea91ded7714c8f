import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DeadLetterGroup } from '../../../../src/core/dead-letter.ts';
import { groupsQuery } from '../../api/failure-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { Spark } from '../../parts/spark.tsx';
import { useNow } from '../../runtime/clock.ts';
import { atLeast } from '../../words/bulk-words.ts';
import { plainText } from '../../words/log-tail.ts';
import { ownersOf, ownerWords } from '../../words/owners.ts';
import { SINCE_MS } from '../../words/since.ts';
import { partsOfWindow } from '../../words/window.ts';

/** What failed, how often, is it new: two thousand failures are mostly three mistakes. */
export function ErrorsScreen() {
  const now = useNow();
  const parts = partsOfWindow('24h', now);
  const lately = { from: parts[0]?.from, to: parts.at(-1)?.to, buckets: 2 * parts.length };
  const { data: ever, error } = useQuery(groupsQuery({}));
  const { data: recent } = useQuery(groupsQuery(lately));
  const { data: definitions = [] } = useQuery(definitionsQuery());
  if (!ever || !recent) {
    return (
      <Screen title="Errors">
        <Waiting error={error} />
      </Screen>
    );
  }
  const owners = ownersOf(definitions);
  const lastDay = new Map(recent.groups.map((group) => [group.fingerprint, group]));
  return (
    <Screen title="Errors">
      {ever.groups.length === 0 ? (
        <Empty title="No job has failed for good." />
      ) : (
        <div className="scroll">
          <table className="rows">
            <caption className="visually-hidden">Errors, the most frequent first</caption>
            <thead>
              <tr>
                <th scope="col" className="number">
                  Times
                </th>
                <th scope="col">Error</th>
                <th scope="col">Last 24 hours</th>
                <th scope="col">First</th>
                <th scope="col">Last</th>
                <th scope="col">Definitions</th>
                <th scope="col">Owner</th>
                <th scope="col">Example</th>
              </tr>
            </thead>
            <tbody>
              {ever.groups.map((group) => (
                <ErrorRow
                  key={group.fingerprint}
                  group={group}
                  recent={lastDay.get(group.fingerprint)}
                  owner={ownerWords(owners, group.definitionKeys)}
                  isNew={now.getTime() - Date.parse(group.firstSeen) < SINCE_MS['24h']}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {!ever.complete && <p className="soft pad">There are more errors than these.</p>}
    </Screen>
  );
}

function ErrorRow({
  group,
  recent,
  owner,
  isNew,
}: {
  group: DeadLetterGroup;
  recent: DeadLetterGroup | undefined;
  owner: string;
  isNew: boolean;
}) {
  const times = recent ? atLeast(recent.count, recent.countIsExact) : '0';
  return (
    <tr>
      <td className="number nowrap">{atLeast(group.count, group.countIsExact)}</td>
      <td className="wide">
        <Link
          to="/dead-letters"
          search={{ fingerprint: group.fingerprint, window: 'all' }}
          className="row-link remark"
          data-row
        >
          <code className="code">{group.code}</code> {plainText(group.message)}
        </Link>
      </td>
      <td className="nowrap">
        {recent && <Spark counts={recent.trend} label={`${times} times in 24 hours`} />}{' '}
        <span className={recent ? '' : 'soft'}>{times}</span>
      </td>
      <td className="nowrap">
        <Moment at={group.firstSeen} /> {isNew && <span className="badge tone-bad">new</span>}
      </td>
      <td className="nowrap">
        <Moment at={group.lastSeen} />
      </td>
      <td>
        {group.definitionKeys.join(', ')}
        <span className="summary">version {group.versions.join(', ')}</span>
      </td>
      <td className="nowrap">{owner}</td>
      <td className="nowrap">
        <Link to="/jobs/$jobId" params={{ jobId: group.jobId }}>
          Look at one
        </Link>
      </td>
    </tr>
  );
}
