import { useQuery } from '@tanstack/react-query';
import { mayDo } from '../../../src/core/access/scope.ts';
import { offersQuery } from '../api/queries.ts';
import { useSignInDemanded } from '../api/session.ts';
import { useSession } from '../api/use-may.ts';
import { NAV } from './nav.ts';

export type NavScreen = (typeof NAV)[number];

/** The screens that the server offers and that this session may read. */
export function useScreens(): NavScreen[] {
  const demanded = useSignInDemanded();
  const { data: offers = [] } = useQuery({ ...offersQuery(), enabled: !demanded });
  const scopes = useSession()?.scopes ?? [];
  return NAV.filter(
    (screen) =>
      (!('needs' in screen) || offers.includes(screen.needs)) &&
      (!('scope' in screen) || mayDo(scopes, screen.scope)),
  );
}
