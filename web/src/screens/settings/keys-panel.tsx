import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyView } from '../../../../src/core/views/key-view.ts';
import { keysQuery } from '../../api/admin-queries.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { useMay, useSession } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { shownOnce } from '../../parts/shown-once.tsx';
import { NewKey } from './new-key.tsx';

export interface MadeKey {
  keyId: string;
  key: string;
}

const TONES = { active: 'good', expired: 'warn', revoked: 'bad' } as const;

export function KeysPanel() {
  const may = useMay('admin');
  const { data: keys, error } = useQuery({ ...keysQuery(), enabled: may });
  const [making, setMaking] = useState(false);
  const isOpen = useSession()?.kind === 'open';
  if (!may) return null;
  return (
    <Panel
      title="API keys"
      flush
      aside={
        <button type="button" className="small" onClick={() => setMaking(true)}>
          Create API key…
        </button>
      }
    >
      {keys === undefined ? (
        <Waiting error={error} />
      ) : keys.length === 0 ? (
        <p className="soft pad">
          {isOpen
            ? 'No keys yet. Anyone on this machine has full access until you create one.'
            : 'No keys yet. Programs and the command line need one.'}
        </p>
      ) : (
        <KeyTable keys={keys} />
      )}
      {making && <NewKey isFirst={isOpen} onMade={showKey} onClose={() => setMaking(false)} />}
    </Panel>
  );
}

function showKey({ key, keyId }: MadeKey): void {
  const text = `Store it now, and pass it to the user or program that needs it. Key id: ${keyId}.`;
  shownOnce.open({ title: 'New API key', secret: key, text });
}

function KeyTable({ keys }: { keys: readonly KeyView[] }) {
  return (
    <Rows
      caption="API keys"
      rows={keys}
      keyOf={({ keyId }) => keyId}
      columns={[
        {
          title: 'Key',
          titled: 'in-head',
          cell: ({ name, keyId }) => (
            <>
              <strong>{name}</strong>
              <span className="summary">{keyId}</span>
            </>
          ),
        },
        {
          title: 'State',
          titled: 'in-head',
          cell: ({ status }) => <span className={`badge tone-${TONES[status]}`}>{status}</span>,
        },
        { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
        { title: 'Created', kind: 'short', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        {
          title: 'Expires',
          kind: 'short',
          cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Moment at={expiresAt} />),
        },
        {
          title: 'Actions',
          titled: 'aloud',
          cell: (key) => <KeyActions apiKey={key} />,
        },
      ]}
    />
  );
}

const OVERLAP_SECONDS = 24 * 3_600;

function KeyActions({ apiKey: { keyId, name, status, successorId } }: { apiKey: KeyView }) {
  const rotate = useAsked(
    async () =>
      await call<MadeKey>('POST', `/v1/keys/${keyId}/rotate`, {
        body: { overlapSeconds: OVERLAP_SECONDS },
      }),
    (made) => {
      showKey(made);
      return null;
    },
  );
  const revoke = useAsked(
    async () => await call<null>('DELETE', `/v1/keys/${keyId}`),
    () => `${name} revoked.`,
  );
  if (status !== 'active') return null;
  return (
    <div className="row-actions">
      {successorId === null && (
        <AskButton
          label="Rotate…"
          className="small"
          title={`Rotate ${name}?`}
          confirm="Create new key"
          tone="primary"
          onConfirm={() => rotate(undefined)}
        >
          <p>A new key with the same scopes is created. This one works for another day.</p>
        </AskButton>
      )}
      <AskButton
        label="Revoke…"
        className="small danger"
        title={`Revoke ${name}?`}
        confirm="Revoke key"
        onConfirm={() => revoke(undefined)}
      >
        <p>The key and its sessions are refused from now on. This can’t be undone.</p>
      </AskButton>
    </div>
  );
}
