import { useQuery } from '@tanstack/react-query';
import type { SessionView } from '../../../../src/core/identity/session-view.ts';
import { sessionsQuery } from '../../api/admin-queries.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { useMay, useSession } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { browserWords, sessionOwner } from '../../words/access/session-words.ts';

/** Sessions of browsers: your own, or for admins all of the tenant. */
export function SessionsPanel() {
  const who = useSession();
  const isAdmin = useMay('admin');
  const { data: sessions, error } = useQuery(sessionsQuery(who !== undefined));
  // A server without sign-in has no sessions.
  if (who === undefined || who.kind === 'open') return null;
  return (
    <Panel title={isAdmin ? 'Sessions' : 'Your sessions'} aside="signed-in browsers" flush>
      {sessions === undefined ? (
        <Waiting error={error} />
      ) : sessions.length === 0 ? (
        <p className="soft pad">No browser is signed in.</p>
      ) : (
        <SessionTable sessions={sessions} currentId={who.sessionId} />
      )}
    </Panel>
  );
}

function SessionTable({
  sessions,
  currentId,
}: {
  sessions: readonly SessionView[];
  currentId: string | null;
}) {
  return (
    <Rows
      caption="Sessions"
      rows={sessions}
      keyOf={({ sessionId }) => sessionId}
      columns={[
        {
          title: 'User',
          titled: 'in-head',
          cell: (session) => (
            <>
              <strong>{sessionOwner(session)}</strong>
              <span className="summary">{session.user?.email ?? session.sessionId}</span>
            </>
          ),
        },
        {
          title: 'Browser',
          cell: ({ userAgent, address }) =>
            [browserWords(userAgent), address].filter(Boolean).join(', ') || '–',
        },
        { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
        { title: 'Last used', kind: 'short', cell: ({ seenAt }) => <Moment at={seenAt} /> },
        {
          title: 'Ends',
          kind: 'short',
          cell: ({ expiresAt }) => <Moment at={expiresAt} />,
        },
        {
          title: 'Actions',
          titled: 'aloud',
          cell: (session) =>
            session.sessionId === currentId ? (
              <span className="badge tone-good">this browser</span>
            ) : (
              <Revoke session={session} />
            ),
        },
      ]}
    />
  );
}

function Revoke({ session }: { session: SessionView }) {
  const owner = sessionOwner(session);
  const revoke = useAsked(
    async () => await call<null>('DELETE', `/v1/sessions/${session.sessionId}`),
    () => `Session of ${owner} revoked.`,
  );
  return (
    <AskButton
      label="Revoke…"
      className="small danger"
      title={`Revoke this session of ${owner}?`}
      confirm="Revoke session"
      onConfirm={() => revoke(undefined)}
    >
      <p>That browser is signed out now. Its user can sign in again.</p>
    </AskButton>
  );
}
