import { call } from '../api/call.ts';
import { session } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { useSession } from '../api/use-may.ts';
import { Icon } from '../parts/icon.tsx';

/** Shown only for a session that began with a key. */
export function SignOut() {
  const who = useSession();
  const end = useChange(
    async () => await call<null>('DELETE', '/v1/session'),
    () => {
      session.demand(true);
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
