import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { AlertView } from '../../../../src/core/alert/alert.ts';
import { alertSentence } from '../../../../src/core/alert/alert-sentence.ts';
import { firingAlertsQuery, resolvedAlertsQuery, useOffered } from '../../api/signal-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Pages } from '../../parts/pages.tsx';
import { TargetLink } from '../../parts/target-link.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { ownersOf, ownerWords } from '../../../../src/core/definition/owners.ts';
import { alertTarget } from '../../words/target.ts';
import { useNow } from '../../runtime/clock.ts';
import { Panel } from '../../parts/panel.tsx';
import { silenceWords } from '../../words/alerts/alert-words.ts';
import { RoutesPanel } from './routes-panel.tsx';
import { RulesPanel } from './rules-panel.tsx';
import { SilenceButton } from './silence-button.tsx';

const route = getRouteApi('/alerts');
const RESOLVED = 'Resolved alerts';

export function AlertsScreen() {
  const isOffered = useOffered('/v1/alerts');
  const areRoutesOffered = useOffered('/v1/alerts/routes');
  const { cursor } = route.useSearch();
  const { data: firing, error } = useQuery({ ...firingAlertsQuery(), enabled: isOffered });
  const { data: page } = useQuery({ ...resolvedAlertsQuery(cursor), enabled: isOffered });
  return (
    <Screen title="Alerts">
      {!isOffered ? (
        <Empty title="This server version has no alerts." />
      ) : firing === undefined || page === undefined ? (
        <Waiting error={error} />
      ) : firing.alerts.length + page.alerts.length === 0 ? (
        <Empty title="No alerts so far.">
          <p>
            When a rule below fires, the alert appears here and is sent to routes and subscribed
            webhooks.
          </p>
        </Empty>
      ) : (
        <>
          {cursor === undefined && <Firing alerts={firing.alerts} />}
          {page.alerts.length > 0 && (
            <div className="below">
              <Panel title="Resolved" flush>
                <AlertTable caption={RESOLVED} alerts={page.alerts} />
              </Panel>
            </div>
          )}
        </>
      )}
      {page && <Pages to="/alerts" search={{ cursor }} nextCursor={page.nextCursor} />}
      {areRoutesOffered && (
        <Allowed scope="operate">
          <RoutesPanel />
        </Allowed>
      )}
      {isOffered && <RulesPanel />}
    </Screen>
  );
}

function Firing({ alerts }: { alerts: readonly AlertView[] }) {
  return (
    <Panel title="Firing" flush={alerts.length > 0}>
      {alerts.length === 0 ? (
        <p className="soft">No alert fires.</p>
      ) : (
        <AlertTable caption="Firing alerts" alerts={alerts} />
      )}
    </Panel>
  );
}

function AlertTable({ caption, alerts }: { caption: string; alerts: readonly AlertView[] }) {
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const owners = ownersOf(definitions);
  return (
    <Rows
      caption={caption}
      rows={alerts}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'State',
          titled: 'in-head',
          cell: ({ status, severity, silenced }) => (
            <>
              <span className={`badge tone-${status === 'firing' ? 'bad' : 'good'}`}>{status}</span>
              {severity === 'critical' && <span className="soft"> critical</span>}
              {silenced !== null && <span className="badge tone-warn">silenced</span>}
            </>
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
        caption === RESOLVED
          ? {
              title: 'Resolved',
              kind: 'short',
              cell: ({ resolvedAt }) => <Moment at={resolvedAt} />,
            }
          : { title: 'Actions', titled: 'aloud', cell: (alert) => <SilenceButton alert={alert} /> },
      ]}
    />
  );
}

function Wrong({ alert }: { alert: AlertView }) {
  const text = plainText(alertSentence(alert));
  const target = alertTarget(alert);
  const now = useNow();
  return (
    <>
      {target === null ? (
        text
      ) : (
        <TargetLink target={target} className="row-link">
          {text}
        </TargetLink>
      )}
      {alert.silenced !== null && (
        <span className="summary">{sentenceCase(silenceWords(alert.silenced, now))}.</span>
      )}
    </>
  );
}
