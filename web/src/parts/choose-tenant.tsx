import { useQuery } from '@tanstack/react-query';
import { signInQuery } from '../api/queries.ts';
import { useMay, useSession } from '../api/use-may.ts';
import { Icon } from './icon.tsx';
import { listPath } from '../runtime/urls.ts';

/**
 * For users of the identity provider whose groups belong to several tenants: leads to the page that
 * offers them. An admin of the default tenant acts for all others without a new sign-in.
 */
export function ChooseTenant({ className }: { className?: string }) {
  const user = useSession()?.user ?? null;
  const isAdmin = useMay('admin', { ofDefaultTenant: true });
  const { data: ways } = useQuery({ ...signInQuery(), enabled: user !== null });
  if (user === null || isAdmin || !ways?.sso?.hasTenants) return null;
  const to = `/ui/${listPath()}`;
  return (
    <a className={className} href={`${ways.sso.url}?${new URLSearchParams({ to }).toString()}`}>
      <Icon name="next" />
      Switch tenant
    </a>
  );
}
