import { actorWords } from '../../../../src/core/identity/actor.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SecretView } from '../../../../src/core/access/secret.ts';
import { secretsQuery } from '../../api/admin-queries.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { NewSecret } from './new-secret.tsx';

/** Secrets of jobs: names and definitions. Values are never shown. */
export function SecretsPanel() {
  const may = useMay('admin');
  const { data: secrets, error } = useQuery({ ...secretsQuery(), enabled: may });
  const [setting, setSetting] = useState(false);
  if (!may) return null;
  return (
    <Panel
      title="Secrets of jobs"
      flush
      aside={
        <button type="button" className="small" onClick={() => setSetting(true)}>
          Set secret…
        </button>
      }
    >
      {secrets === undefined ? (
        <Waiting error={error} />
      ) : secrets.length === 0 ? (
        <p className="soft pad">
          No secrets. Jobs get them as environment variables; their values are never shown.
        </p>
      ) : (
        <SecretTable secrets={secrets} />
      )}
      {setting && <NewSecret onClose={() => setSetting(false)} />}
    </Panel>
  );
}

function SecretTable({ secrets }: { secrets: readonly SecretView[] }) {
  return (
    <Rows
      caption="Secrets of jobs"
      rows={secrets}
      keyOf={({ name, definitionKey }) => `${name} ${definitionKey ?? '*'}`}
      columns={[
        { title: 'Name', titled: 'in-head', cell: ({ name }) => <code>{name}</code> },
        { title: 'Definition', cell: ({ definitionKey }) => definitionKey ?? 'all' },
        { title: 'Set', kind: 'short', cell: ({ updatedAt }) => <Moment at={updatedAt} /> },
        { title: 'By', cell: ({ updatedBy }) => actorWords(updatedBy) },
        { title: 'Actions', titled: 'aloud', cell: (secret) => <Remove secret={secret} /> },
      ]}
    />
  );
}

function Remove({ secret: { name, definitionKey } }: { secret: SecretView }) {
  const remove = useAsked(
    async () =>
      await call<null>('DELETE', `/v1/secrets/${name}`, {
        query: { definitionKey: definitionKey ?? undefined },
      }),
    () => `${name} removed.`,
  );
  return (
    <AskButton
      label="Remove…"
      className="small danger"
      title={`Remove ${name}?`}
      confirm="Remove secret"
      onConfirm={() => remove(undefined)}
    >
      <p>Jobs that start from now on don’t get it. Its value can’t be shown or restored.</p>
    </AskButton>
  );
}
