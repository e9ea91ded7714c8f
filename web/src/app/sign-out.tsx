import { useQuery } from '@tanstack/react-query';
import { call } from '../api/call.ts';
import { offersQuery, sessionQuery } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { useChange } from '../api/use-change.ts';
import { Icon } from '../parts/icon.tsx';

/** Only who came in by a key can leave. */
export function SignOut() {
  const { data: offers = [] } = useQuery(offersQuery());
  const { data: who } = useQuery(sessionQuery(offers.includes('/v1/session')));
  const end = useChange(
    async () => await call<null>('DELETE', '/v1/session'),
    () => {
      session.demand(true);
      return 'You are signed out.';
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
