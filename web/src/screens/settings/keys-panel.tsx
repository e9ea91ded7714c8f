import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyView } from '../../../../src/core/key-view.ts';
import { keysQuery } from '../../api/admin-queries.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { NewKey } from './new-key.tsx';

export interface MadeKey {
  keyId: string;
  key: string;
}

const TONES = { active: 'good', expired: 'warn', revoked: 'bad' } as const;

/** API keys: who has one, what it may do, and how to replace or end it. */
export function KeysPanel() {
  const { data: keys, error } = useQuery(keysQuery());
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeKey | null>(null);
  return (
    <Panel
      title="API keys"
      flush
      aside={
        <button type="button" className="small" onClick={() => setMaking(true)}>
          Make a key…
        </button>
      }
    >
      {keys === undefined ? (
        <Waiting error={error} />
      ) : keys.length === 0 ? (
        <p className="soft pad">
          There are none. The server is open to who is on its machine; the first key closes it.
        </p>
      ) : (
        <KeyTable keys={keys} onMade={setMade} />
      )}
      {making && (
        <NewKey isFirst={keys?.length === 0} onMade={setMade} onClose={() => setMaking(false)} />
      )}
      {made !== null && (
        <ShownOnce title="The new key" secret={made.key} onClose={() => setMade(null)}>
          {`Give it to who needs it. In lists it is called ${made.keyId}.`}
        </ShownOnce>
      )}
    </Panel>
  );
}

function KeyTable({ keys, onMade }: { keys: readonly KeyView[]; onMade: (made: MadeKey) => void }) {
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
        { title: 'May', cell: ({ scopes }) => scopes.join(', ') },
        { title: 'Made', kind: 'short', cell: ({ createdAt }) => <Moment at={createdAt} /> },
        {
          title: 'Until',
          kind: 'short',
          cell: ({ expiresAt }) => (expiresAt === null ? 'for good' : <Moment at={expiresAt} />),
        },
        {
          title: 'Actions',
          titled: 'aloud',
          cell: (key) => <KeyActions apiKey={key} onMade={onMade} />,
        },
      ]}
    />
  );
}

const OVERLAP_SECONDS = 24 * 3_600;

function KeyActions({
  apiKey: { keyId, name, status, successorId },
  onMade,
}: {
  apiKey: KeyView;
  onMade: (made: MadeKey) => void;
}) {
  const [asking, setAsking] = useState<'rotate' | 'revoke' | null>(null);
  const rotate = useChange(
    async () =>
      await call<MadeKey>('POST', `/v1/keys/${keyId}/rotate`, {
        body: { overlapSeconds: OVERLAP_SECONDS },
      }),
    (made) => {
      onMade(made);
      return null;
    },
  );
  const revoke = useChange(
    async () => await call<null>('DELETE', `/v1/keys/${keyId}`),
    () => `${name} is revoked.`,
  );
  if (status !== 'active') return null;
  return (
    <div className="row-actions">
      {successorId === null && (
        <button type="button" className="small" onClick={() => setAsking('rotate')}>
          Rotate…
        </button>
      )}
      <button type="button" className="small danger" onClick={() => setAsking('revoke')}>
        Revoke…
      </button>
      {asking === 'rotate' && (
        <Ask
          title={`Rotate ${name}?`}
          confirm="Make its successor"
          tone="primary"
          onConfirm={() => rotate.mutate(undefined)}
          onClose={() => setAsking(null)}
        >
          <p>A new key that may do the same is made. This one goes on for a day, then it ends.</p>
        </Ask>
      )}
      {asking === 'revoke' && (
        <Ask
          title={`Revoke ${name}?`}
          confirm="Revoke it"
          onConfirm={() => revoke.mutate(undefined)}
          onClose={() => setAsking(null)}
        >
          <p>It is refused from now on, with every session that began with it. For good.</p>
        </Ask>
      )}
    </div>
  );
}
