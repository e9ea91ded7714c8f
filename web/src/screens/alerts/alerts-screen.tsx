import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { AlertView } from '../../../../src/core/alert.ts';
import { alertsQuery, useOffered } from '../../api/signal-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { plainText } from '../../words/log-tail.ts';
import { ownersOf, ownerWords } from '../../words/owners.ts';
import { textOf } from '../../words/url-search.ts';
import { RulesPanel } from './rules-panel.tsx';

const route = getRouteApi('/alerts');

export function alertsSearch(search: Record<string, unknown>): { cursor?: string } {
  const cursor = textOf(search, 'cursor');
  return cursor === undefined ? {} : { cursor };
}

/** What the server has noticed by itself, and by which rule. */
export function AlertsScreen() {
  const isOffered = useOffered('/v1/alerts');
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery({ ...alertsQuery(cursor), enabled: isOffered });
  return (
    <Screen title="Alerts">
      {!isOffered ? (
        <Empty title="This server has no alerts." />
      ) : page === undefined ? (
        <Waiting error={error} />
      ) : page.alerts.length === 0 ? (
        <Empty title="Nothing has been wrong." />
      ) : (
        <AlertTable alerts={page.alerts} />
      )}
      {page?.nextCursor && (
        <nav className="pages" aria-label="Pages">
          <Link to="/alerts" search={{ cursor: page.nextCursor }} className="button">
            Next page
          </Link>
        </nav>
      )}
      {isOffered && <RulesPanel />}
    </Screen>
  );
}

function AlertTable({ alerts }: { alerts: readonly AlertView[] }) {
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const owners = ownersOf(definitions);
  return (
    <div className="scroll">
      <table className="rows">
        <caption className="visually-hidden">Alerts</caption>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">What is wrong</th>
            <th scope="col">Rule</th>
            <th scope="col">Owner</th>
            <th scope="col">Since</th>
            <th scope="col">Over</th>
            <th scope="col">Where</th>
          </tr>
        </thead>
        <tbody>
          {alerts.map((alert) => (
            <tr key={alert.id}>
              <td>
                <span className={`badge tone-${alert.status === 'firing' ? 'bad' : 'good'}`}>
                  {alert.status}
                </span>
              </td>
              <td>{plainText(alert.message)}</td>
              <td className="nowrap">{alert.rule}</td>
              <td className="nowrap">
                {alert.definitionKey === null ? '–' : ownerWords(owners, [alert.definitionKey])}
              </td>
              <td className="nowrap">
                <Moment at={alert.since} />
              </td>
              <td className="nowrap">
                <Moment at={alert.resolvedAt} />
              </td>
              <td className="nowrap">
                <Where alert={alert} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The nearest thing that it is about. */
function Where({ alert: { jobId, scheduleId, definitionKey } }: { alert: AlertView }) {
  if (jobId !== null) {
    return (
      <Link to="/jobs/$jobId" params={{ jobId }} data-row>
        One of its jobs
      </Link>
    );
  }
  if (scheduleId !== null) {
    return (
      <Link to="/schedules/$scheduleId" params={{ scheduleId }} data-row>
        Its schedule
      </Link>
    );
  }
  if (definitionKey === null) return null;
  return (
    <Link to="/definitions/$key" params={{ key: definitionKey }} data-row>
      {definitionKey}
    </Link>
  );
}
