import { call } from '../api/call.ts';
import { session } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { useSession } from '../api/use-may.ts';
import { Icon } from '../parts/icon.tsx';

/** Shown only in a session. A user of the identity provider may sign out there, too. */
export function SignOut() {
  const who = useSession();
  const end = useChange(
    async () => await call<{ signOutUrl: string } | null>('DELETE', '/v1/session'),
    (ended) => {
      session.demand(true);
      if (ended) window.location.assign(ended.signOutUrl);
      return 'Signed out.';
    },
  );
  if (who?.kind !== 'session') return null;
  return (
    <button type="button" className="quiet" onClick={() => end.mutate(undefined)}>
      <Icon name="leave" />
      Sign out
    </button>
  );
}
