import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { quietHoursText } from '../../../../src/core/alert/quiet-hours.ts';
import type { AlertRouteView } from '../../../../src/core/alert/route.ts';
import { call } from '../../api/call.ts';
import { alertRoutesQuery } from '../../api/signal-queries.ts';
import { useWebhooks } from '../../api/use-webhooks.ts';
import { useAsked, useChange } from '../../api/use-change.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { noRouteWords } from '../../words/alerts/alert-words.ts';
import { destinationWords, filterWords } from '../../words/alerts/route-words.ts';
import { MessageList } from './message-list.tsx';
import { RouteDialog } from './route-dialog.tsx';

/** Where alerts are sent by e-mail or chat. */
export function RoutesPanel() {
  const { data: routes, error } = useQuery(alertRoutesQuery());
  const webhooks = useWebhooks();
  const [changing, setChanging] = useState<AlertRouteView | 'new' | null>(null);
  const [shown, setShown] = useState<string | null>(null);
  const add = (
    <button type="button" className="small" onClick={() => setChanging('new')}>
      Add route…
    </button>
  );
  const hide = (
    <button type="button" className="small" onClick={() => setShown(null)}>
      Hide
    </button>
  );
  return (
    <div className="below">
      <Panel title="Routes" aside={add} flush={routes !== undefined && routes.length > 0}>
        {routes === undefined ? (
          <Waiting error={error} />
        ) : routes.length === 0 ? (
          <p className="soft">{noRouteWords(webhooks)}</p>
        ) : (
          <Rows
            caption="Alert routes"
            rows={routes}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Route', titled: 'in-head', cell: (route) => <RouteName route={route} /> },
              {
                title: 'To',
                cell: (route) => `${route.channel}: ${destinationWords(route)}`,
              },
              {
                title: 'Quiet hours',
                kind: 'short',
                cell: ({ quietHours }) => (quietHours === null ? '–' : quietHoursText(quietHours)),
              },
              {
                title: 'Actions',
                titled: 'aloud',
                cell: (route) => (
                  <RouteActions
                    name={route.name}
                    onChange={() => setChanging(route)}
                    onMessages={() => setShown(route.name)}
                  />
                ),
              },
            ]}
          />
        )}
      </Panel>
      {changing !== null && (
        <RouteDialog
          route={changing === 'new' ? null : changing}
          onClose={() => setChanging(null)}
        />
      )}
      {shown !== null && (
        <div className="below">
          <Panel title={`Messages of ${shown}`} aside={hide}>
            <MessageList route={shown} />
          </Panel>
        </div>
      )}
    </div>
  );
}

function RouteName({ route }: { route: AlertRouteView }) {
  return (
    <>
      <strong>{route.name}</strong> {!route.enabled && <span className="badge tone-warn">off</span>}
      <br />
      <span className="soft">{filterWords(route)}</span>
    </>
  );
}

function RouteActions({
  name,
  onChange,
  onMessages,
}: {
  name: string;
  onChange: () => void;
  onMessages: () => void;
}) {
  const path = `/v1/alerts/routes/${encodeURIComponent(name)}`;
  const test = useChange(
    async () => await call<object>('POST', `${path}/test`),
    () => {
      // The list of messages shows what becomes of it.
      onMessages();
      return null;
    },
  );
  const remove = useAsked(
    async () => await call<null>('DELETE', path),
    () => 'Route deleted.',
  );
  return (
    <>
      <button type="button" className="small" onClick={() => test.mutate(undefined)}>
        Send test
      </button>{' '}
      <button type="button" className="small" onClick={onMessages}>
        Messages…
      </button>{' '}
      <button type="button" className="small" onClick={onChange}>
        Change…
      </button>{' '}
      <AskButton
        label="Delete…"
        className="small danger"
        title={`Delete the route ${name}?`}
        confirm="Delete route"
        onConfirm={() => remove(undefined)}
      >
        <p>Messages that are not sent yet are dropped.</p>
      </AskButton>
    </>
  );
}
