import { useQuery } from '@tanstack/react-query';
import { HOST_TENANT, mayDo, type Scope } from '../../../src/core/access/scope.ts';
import { offersQuery, sessionQuery, type SessionView } from './queries.ts';

/** The session of this browser; undefined until the server has answered. */
export function useSession(): SessionView | undefined {
  const { data: offers = [] } = useQuery(offersQuery());
  return useQuery(sessionQuery(offers.includes('/v1/session'))).data;
}

/**
 * Whether the session has this scope; `ofHost` also requires a key of the host tenant. False until
 * known, so that a button appears late instead of failing.
 */
export function useMay(scope: Scope, { ofHost = false } = {}): boolean {
  const who = useSession();
  if (who === undefined) return false;
  return mayDo(who.scopes, scope) && (!ofHost || who.tenant === HOST_TENANT);
}
