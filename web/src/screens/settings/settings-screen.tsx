import { useQuery } from '@tanstack/react-query';
import { healthQuery } from '../../api/admin-queries.ts';
import { useSession } from '../../api/use-may.ts';
import { ChooseTenant } from '../../parts/choose-tenant.tsx';
import { Command } from '../../parts/copy-button.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Screen } from '../../parts/screen.tsx';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { ConfigurationPanel } from './configuration-panel.tsx';
import { KeysPanel } from './keys-panel.tsx';
import { SecretsPanel } from './secrets-panel.tsx';
import { TenantsPanel } from './tenants-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

export function SettingsScreen() {
  return (
    <Screen title="Settings">
      <div className="columns">
        <div>
          <KeysPanel />
          <TenantsPanel />
          <SessionsPanel />
          <SecretsPanel />
        </div>
        <div>
          <You />
          <Server />
        </div>
      </div>
      <div className="below">
        <ConfigurationPanel />
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
          ['Sign-in', who.user ? 'Signed in with SSO' : (KINDS[who.kind] ?? who.kind)],
          ['User', who.user && (who.user.name ?? who.user.subject)],
          ['Email', who.user?.email],
          ['Key', who.keyId],
          [
            'Tenant',
            <>
              {who.tenant} <ChooseTenant />
            </>,
          ],
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
      <div className="soft below">
        <p>Check the server’s machine with:</p>
        <Command text="npx longshore doctor" />
      </div>
    </Panel>
  );
}
