import { useQuery } from '@tanstack/react-query';
import { healthQuery, settingsQuery } from '../../api/admin-queries.ts';
import { offersQuery, sessionQuery } from '../../api/queries.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { KeysPanel } from './keys-panel.tsx';

/** Who may do what, and how this server is. */
export function SettingsScreen() {
  return (
    <Screen title="Settings">
      <div className="columns">
        <div>
          <KeysPanel />
          <SetUp />
        </div>
        <div>
          <You />
          <Server />
        </div>
      </div>
    </Screen>
  );
}

const KINDS: Record<string, string> = {
  open: 'anybody: this server has no keys, and listens on this machine only',
  session: 'signed in with a key',
  key: 'a key',
};

function You() {
  const { data: offers = [] } = useQuery(offersQuery());
  const { data: who } = useQuery(sessionQuery(offers.includes('/v1/session')));
  if (!who) return null;
  return (
    <Panel title="You">
      <Facts
        facts={[
          ['You are', KINDS[who.kind] ?? who.kind],
          ['Key', who.keyId],
          ['Tenant', who.tenant],
          ['You may', who.kind === 'open' ? 'do everything' : who.scopes.join(', ')],
          ['Until', who.expiresAt && <Moment at={who.expiresAt} />],
        ]}
      />
    </Panel>
  );
}

function Server() {
  const { data: health } = useQuery(healthQuery());
  return (
    <Panel title="Server">
      <Facts
        facts={[
          ['Version', health?.version],
          ...(health?.checks ?? []).map(
            ({ name, ok, durationMs }) =>
              [name, `${ok ? 'well' : 'not well'}, in ${Math.round(durationMs)} ms`] as const,
          ),
        ]}
      />
      <div className="soft">
        <p>What its machine lacks is told there:</p>
        <Command text="npx longshore doctor" />
      </div>
    </Panel>
  );
}

/** Retention, limits, leases: what was said at its start. */
function SetUp() {
  const { data, error } = useQuery(settingsQuery());
  return (
    <Panel title="How it is set up" aside="by the environment, flags or a file" flush>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <div className="scroll" role="group" aria-label="Settings" tabIndex={0}>
          <table className="rows">
            <caption className="visually-hidden">Settings</caption>
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col">Meaning</th>
              </tr>
            </thead>
            <tbody>
              {data.settings.map(({ name, value, meaning }) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td>{value ?? <span className="soft">–</span>}</td>
                  <td>{meaning}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
