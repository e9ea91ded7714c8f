import { useQuery } from '@tanstack/react-query';
import { DEFAULT_TENANT, mayDo, type Scope } from '../../../src/core/access/scope.ts';
import { offersQuery, sessionQuery, type CallerView } from './queries.ts';

/** The session of this browser; undefined until the server has answered. */
export function useSession(): CallerView | undefined {
  const { data: offers = [] } = useQuery(offersQuery());
  return useQuery(sessionQuery(offers.includes('/v1/session'))).data;
}

/**
 * Whether the session has this scope; `ofDefaultTenant` also requires a key of the default tenant. False until
 * known, so that a button appears late instead of failing.
 */
export function useMay(scope: Scope, { ofDefaultTenant = false } = {}): boolean {
  const who = useSession();
  if (who === undefined) return false;
  return mayDo(who.scopes, scope) && (!ofDefaultTenant || who.tenant === DEFAULT_TENANT);
}
