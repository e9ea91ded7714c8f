import { useQuery } from '@tanstack/react-query';
import { healthQuery, settingsQuery } from '../../api/admin-queries.ts';
import { useSession } from '../../api/use-may.ts';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { KeysPanel } from './keys-panel.tsx';

export function SettingsScreen() {
  return (
    <Screen title="Settings">
      <div className="columns">
        <div>
          <KeysPanel />
        </div>
        <div>
          <You />
          <Server />
        </div>
      </div>
      <div className="below">
        <SetUp />
      </div>
    </Screen>
  );
}

const KINDS: Record<string, string> = {
  open: 'Not signed in: this server has no keys, and accepts calls from this machine only',
  session: 'Signed in with a key',
  key: 'An API key',
};

function You() {
  const who = useSession();
  if (!who) return null;
  return (
    <Panel title="You">
      <Facts
        facts={[
          ['Sign-in', KINDS[who.kind] ?? who.kind],
          ['Key', who.keyId],
          ['Tenant', who.tenant],
          ['Permissions', who.kind === 'open' ? 'everything' : who.scopes.join(', ')],
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
              [
                sentenceCase(name),
                `${ok ? 'healthy' : 'unhealthy'}, responds in ${Math.round(durationMs)} ms`,
              ] as const,
          ),
        ]}
      />
      <div className="soft">
        <p>Check the server’s machine with:</p>
        <Command text="npx longshore doctor" />
      </div>
    </Panel>
  );
}

/** Settings from flags, environment or file. */
function SetUp() {
  const { data, error } = useQuery(settingsQuery());
  return (
    <Panel title="Configuration" aside="from flags, environment or file" flush>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        <Rows
          caption="Settings"
          rows={data.settings}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Setting', titled: 'in-head', cell: ({ name }) => <code>{name}</code> },
            {
              title: 'Value',
              cell: ({ value }) =>
                value === null ? (
                  <span className="soft">–</span>
                ) : (
                  <span className="whole-word">{value}</span>
                ),
            },
            {
              title: 'Meaning',
              titled: 'in-head',
              cell: ({ meaning }) => <Marked text={meaning} />,
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** Renders text between backticks as code. */
function Marked({ text }: { text: string }) {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}
