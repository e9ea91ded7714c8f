import { useQuery } from '@tanstack/react-query';
import { HOST_TENANT, mayDo, type Scope } from '../../../src/core/access/scope.ts';
import { offersQuery, sessionQuery, type SessionView } from './queries.ts';

/** Who the server takes this browser for; undefined until it has answered. */
export function useSession(): SessionView | undefined {
  const { data: offers = [] } = useQuery(offersQuery());
  return useQuery(sessionQuery(offers.includes('/v1/session'))).data;
}

/**
 * Whether the server would accept a call that needs this scope. What is about all tenants is for keys of
 * the host tenant only. Until it is known, the answer is no: a button appears rather than fails.
 */
export function useMay(scope: Scope, { ofHost = false } = {}): boolean {
  const who = useSession();
  if (who === undefined) return false;
  return mayDo(who.scopes, scope) && (!ofHost || who.tenant === HOST_TENANT);
}
