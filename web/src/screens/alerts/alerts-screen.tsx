import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { AlertView } from '../../../../src/core/views/alert.ts';
import { alertsQuery, useOffered } from '../../api/signal-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { TargetLink } from '../../parts/target-link.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { ownersOf, ownerWords } from '../../words/alerts/owners.ts';
import { alertTarget } from '../../words/target.ts';
import { textOf } from '../../words/url-search.ts';
import { RulesPanel } from './rules-panel.tsx';

const route = getRouteApi('/alerts');

export function alertsSearch(search: Record<string, unknown>): { cursor?: string } {
  const cursor = textOf(search, 'cursor');
  return cursor === undefined ? {} : { cursor };
}

export function AlertsScreen() {
  const isOffered = useOffered('/v1/alerts');
  const { cursor } = route.useSearch();
  const { data: page, error } = useQuery({ ...alertsQuery(cursor), enabled: isOffered });
  return (
    <Screen title="Alerts">
      {!isOffered ? (
        <Empty title="This server version has no alerts." />
      ) : page === undefined ? (
        <Waiting error={error} />
      ) : page.alerts.length === 0 ? (
        <Empty title="No alerts so far.">
          <p>When a rule below fires, the alert appears here and is sent to subscribed webhooks.</p>
        </Empty>
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
    <Rows
      caption="Alerts"
      rows={alerts}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'State',
          titled: 'in-head',
          cell: ({ status }) => (
            <span className={`badge tone-${status === 'firing' ? 'bad' : 'good'}`}>{status}</span>
          ),
        },
        { title: 'Problem', titled: 'in-head', cell: (alert) => <Wrong alert={alert} /> },
        { title: 'Rule', kind: 'short', cell: ({ rule }) => rule },
        {
          title: 'Owner',
          kind: 'short',
          cell: ({ definitionKey }) =>
            definitionKey === null ? '–' : ownerWords(owners, [definitionKey]),
        },
        { title: 'Since', kind: 'short', cell: ({ since }) => <Moment at={since} /> },
        { title: 'Resolved', kind: 'short', cell: ({ resolvedAt }) => <Moment at={resolvedAt} /> },
      ]}
    />
  );
}

function Wrong({ alert }: { alert: AlertView }) {
  const text = sentenceCase(plainText(alert.message));
  const target = alertTarget(alert);
  if (target === null) return text;
  return (
    <TargetLink target={target} className="row-link">
      {text}
    </TargetLink>
  );
}
